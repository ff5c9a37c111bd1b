"use strict";
for (const section of document.querySelectorAll("section.environment")) {
  const metric = section.querySelector("select");
  const show = () => {
    const scale = section.querySelector("input:checked").value;
    for (const figure of section.querySelectorAll("figure")) {
      figure.hidden = figure.dataset.metric !== metric.value || figure.dataset.scale !== scale;
    }
  };
  section.querySelector(".choices").addEventListener("change", show);
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
