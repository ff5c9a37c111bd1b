"use strict";
const SVG = "http://www.w3.org/2000/svg";

// Return the horizontal pixels of a chart's points, read off its first curve.
const pixels = svg =>
  svg.querySelector(".line").getAttribute("d").slice(1).split(" ").map(point => parseFloat(point));

// Show the values at a point beside the agents, and the point's place.
function read(section, svg, index) {
  const at = pixels(svg), place = `${svg.dataset.name} ${svg.dataset.x.split(" ")[index]}`, spoken = [];
  for (const line of svg.querySelectorAll(".line")) {
    const [mean, low, high] = line.dataset.values.split(",")[index].split(" ");
    const button = section.querySelector(`.legend [data-agent="${line.dataset.agent}"]`);
    button.querySelector(".value").textContent = high === undefined ? mean : `${mean} [${low}, ${high}]`;
    spoken.push(`${line.querySelector("title").textContent} ${mean}`);
  }
  const output = section.querySelector("output");
  output.textContent = place;
  output.append(Object.assign(document.createElement("span"), {className: "unseen", textContent: `: ${spoken.join("; ")}`}));
  svg.querySelector(".guide").setAttribute("d", `M${at[index]} 10V260`);
  svg.dataset.index = index;
}

// Return the point of a chart nearest to a pointer.
function nearest(svg, event) {
  const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
  const gaps = pixels(svg).map(pixel => Math.abs(pixel - x));
  return gaps.indexOf(Math.min(...gaps));
}

// Return the point that is shown first.
const start = svg => Number(svg.closest("figure").dataset.start ?? pixels(svg).length - 1);

function makeReadable(section, svg) {
  const last = pixels(svg).length - 1;
  svg.append(document.createElementNS(SVG, "path"));
  svg.lastChild.setAttribute("class", "guide");
  svg.tabIndex = 0;
  for (const name of ["pointermove", "pointerdown"]) {
    svg.addEventListener(name, event => read(section, svg, nearest(svg, event)));
  }
  svg.addEventListener("pointerleave", event => event.pointerType === "mouse" && read(section, svg, start(svg)));
  svg.addEventListener("keydown", event => {
    const index = Number(svg.dataset.index);
    const aim = {ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last}[event.key];
    if (aim === undefined) return;
    event.preventDefault();
    read(section, svg, Math.max(0, Math.min(last, aim)));
  });
}

for (const section of document.querySelectorAll("section.drawn")) {
  for (const svg of section.querySelectorAll("figure svg")) makeReadable(section, svg);
  const show = () => {
    const metric = section.querySelector("select")?.value;
    const scale = section.querySelector("input:checked")?.value;
    for (const figure of section.querySelectorAll("figure")) {
      figure.hidden = figure.dataset.metric !== metric || figure.dataset.scale !== scale;
      const svg = figure.querySelector("svg");
      if (!figure.hidden) read(section, svg, start(svg));
    }
  };
  section.querySelector(".choices")?.addEventListener("change", show);
  show();
  for (const button of section.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", shown);
      for (const path of section.querySelectorAll(`figure [data-agent="${button.dataset.agent}"]`)) {
        path.style.display = shown ? "" : "none";
      }
    });
  }
}
