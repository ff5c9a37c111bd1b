"use strict";
const get = id => document.getElementById(id), SVG = "http://www.w3.org/2000/svg";
const make = (tag, text, name) => { const made = document.createElement(tag); if (text) made.textContent = text; if (name) made.className = name; return made; };
const draw = (tag, attributes) => { const made = document.createElementNS(SVG, tag); for (const name in attributes) made.setAttribute(name, attributes[name]); return made; };
async function ask(path) {
  const answer = await fetch(path), content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}
function fill(select, labels) {
  if ([...select.options].map(option => option.value).join("\n") === labels.join("\n")) return;
  const chosen = select.value;
  select.replaceChildren(...labels.map(label => { const option = make("option", label); option.value = label; return option; }));
  if (labels.includes(chosen)) select.value = chosen;
}
let curves = [], done = "", form = get("film");
async function drawCurves() {
  const environment = get("curve-environment").value;
  if (!environment) return;
  curves = (await ask("/curves?environment=" + encodeURIComponent(environment))).curves;
  if (environment !== get("curve-environment").value) return;
  if (curves.length) fill(get("metric"), curves.map(curve => curve.name));
  showCurve();
}
function showCurve() {
  const curve = curves.find(each => each.name === get("metric").value) || curves[0];
  if (curve) get("curve").innerHTML = curve.svg;  // the server's own drawing, whose labels it has escaped
  else get("curve").replaceChildren(make("p", "No block of trials is done yet.", "note"));
}
function showCells(rows) {
  get("cells").replaceChildren(...rows.map(row => {
    const line = make("tr"), blocks = make("td");
    row.cells.forEach((state, i) => { const cell = make("i", "", "cell " + state); cell.title = `block ${i + 1}: ${state}`; cell.role = "img"; cell.ariaLabel = cell.title; blocks.append(cell); });
    line.append(make("td", row.environment), make("td", row.agent), blocks);
    return line;
  }));
}
function showFailures(failures) {
  const open = new Set([...get("failures").querySelectorAll("details[open] summary")].map(each => each.textContent));
  get("failures").replaceChildren(...(failures.length ? failures.map(failure => {
    const part = make("details"); part.append(make("summary", failure.cell), make("pre", failure.text));
    part.open = open.has(failure.cell); return part;
  }) : [make("p", "None.", "note")]));
}
function showLegend(agents) {
  get("legend").replaceChildren(...agents.map(agent => {
    const line = make("li"), picture = draw("svg", {viewBox: "0 0 30 10"});
    picture.append(draw("path", {d: "M0 5H30", class: "line " + agent.style})); line.append(picture, " " + agent.label); return line;
  }));
}
let latest = "";
async function follow() {
  try {
    const state = await ask("/state"), text = JSON.stringify(state);
    if (!state.waiting && text !== latest) {
      latest = text;
      get("name").textContent = state.name;
      get("summary").textContent = Object.entries(state.counts).map(([name, count]) => `${count} ${name}`).join(", ") + " cells.";
      showCells(state.rows); showFailures(state.failures); showLegend(state.agents);
      for (const select of [get("curve-environment"), form.elements.environment]) fill(select, state.environments);
      fill(form.elements.agent, state.agents.map(agent => agent.label));
      const now = JSON.stringify(state.rows);
      if (now !== done) { done = now; await drawCurves(); }
    }
  } catch (error) { get("summary").textContent = "The board cannot read the study: " + error.message; latest = ""; }
  setTimeout(follow, 1500);
}
get("curve-environment").onchange = drawCurves;
get("metric").onchange = showCurve;
for (const [name, least, unit] of [["delay", 0, " rounds (Poisson)"], ["noise", 0.01, " std"]]) {
  const slider = form.elements[name];
  slider.oninput = () => { slider.nextElementSibling.value = +slider.value < least ? "as in the study" : slider.value + unit; };
}
let frames = [], ranges = [], turn = 0;
form.onsubmit = async event => {
  event.preventDefault();
  const asked = new URLSearchParams(new FormData(form)), mine = ++turn;
  if (+asked.get("delay") < 0) asked.delete("delay");
  if (+asked.get("noise") <= 0) asked.delete("noise");
  get("message").textContent = "Playing …";
  try {
    const film = await ask("/film?" + asked);
    if (mine !== turn) return;
    frames = film.frames;
    ranges = frames[0].panels.map((_, i) => range(frames.flatMap(frame => {
      const panel = frame.panels[i], mean = panel.mean || [];
      return [...panel.truth, ...(i ? [0] : frame.plays.y), ...mean.map((m, k) => m - 2 * panel.std[k]), ...mean.map((m, k) => m + 2 * panel.std[k])];
    })));
    const silent = frames[0].panels.filter(panel => !panel.mean).map(panel => panel.name).join(", ");
    get("message").textContent = (silent ? `This agent has no posterior of ${silent}. ` : "")
      + (film.cut ? `Cut after ${film.cut} seconds, in round ${frames.at(-1).round} of ${film.rounds}.` : "");
    get("player").hidden = false; get("round").max = frames.length - 1; get("round").value = frames.length - 1; showFrame();
  } catch (error) { if (mine === turn) { get("message").textContent = error.message; get("player").hidden = true; } }
};
get("round").oninput = showFrame;
function range(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value !== null && isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  const room = (high - low || 1) * .05; return low <= high ? [low - room, high + room] : [0, 1];
}
function showFrame() {
  const frame = frames[+get("round").value];
  get("at").value = `${frame.round}, regret ${frame.regret.toPrecision(3)}`;
  const parts = frame.panels.flatMap((panel, i) => [make("h3", panel.name), picture(frame, panel, ranges[i], i === 0)]);
  if (frame.acquisition) parts.push(make("h3", "acquisition"), picture(frame, {score: frame.acquisition, name: "acquisition"}, range(frame.acquisition), false));
  get("panels").replaceChildren(...parts);
}
function picture(frame, panel, [low, high], plays) {
  const tall = plays ? 210 : 120, svg = draw("svg", {viewBox: `0 0 560 ${tall}`, role: "img", "aria-label": `${panel.name} in round ${frame.round}`});
  const x0 = frame.x[0], wide = (frame.x.at(-1) - x0) || 1;
  const across = x => 52 + (x - x0) / wide * 498, up = y => tall - 8 - (y - low) / (high - low) * (tall - 18);
  const path = values => { let pen = "M"; return values.map((y, k) => { if (y === null) { pen = "M"; return ""; } const step = pen + across(frame.x[k]).toFixed(1) + " " + up(y).toFixed(1); pen = "L"; return step; }).join(""); };
  for (const y of [low, (low + high) / 2, high]) {
    svg.append(draw("path", {d: `M52 ${up(y)}H550`, class: "grid"}));
    const tick = draw("text", {x: 47, y: up(y) + 4, class: "y"}); tick.textContent = (+y.toPrecision(2)).toString(); svg.append(tick);
  }
  if (panel.name.startsWith("cost")) svg.append(draw("path", {d: `M52 ${up(0)}H550`, class: "f-zero"}));
  if (panel.mean) {
    const top = panel.mean.map((m, k) => m + 2 * panel.std[k]), bottom = panel.mean.map((m, k) => m - 2 * panel.std[k]);
    const back = bottom.map((y, k) => `L${across(frame.x[k]).toFixed(1)} ${up(y).toFixed(1)}`).reverse().join("");
    svg.append(draw("path", {d: path(top) + back + "Z", class: "f-band"}), draw("path", {d: path(panel.mean), class: "f-mean"}));
  }
  if (panel.truth) svg.append(draw("path", {d: path(panel.truth), class: "f-truth"}));
  if (panel.score) svg.append(draw("path", {d: path(panel.score), class: "f-score"}));
  if (plays) frame.plays.x.forEach((x, k) => {
    const h = across(x), v = up(frame.plays.y[k]), kind = frame.plays.kind[k];
    svg.append(kind === "lost" ? draw("path", {d: `M${h - 4} ${v - 4}l8 8m0-8l-8 8`, class: "f-play lost"}) : draw("circle", {cx: h, cy: v, r: 3.5, class: "f-play " + kind}));
  });
  return svg;
}
follow();
