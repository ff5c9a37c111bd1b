"use strict";
const get = id => document.getElementById(id), SVG = "http://www.w3.org/2000/svg", SIDES = ["first", "second"];
const draw = (tag, attributes, text) => { const made = document.createElementNS(SVG, tag); for (const name in attributes) made.setAttribute(name, attributes[name]); if (text) made.textContent = text; return made; };
const [[X, [x0, x1]], [Y, [y0, y1]]] = Object.entries(RANGES);
const across = x => 46 + (x - x0) / (x1 - x0) * 300, up = y => 272 - (y - y0) / (y1 - y0) * 244;
const words = point => `${X} ${point[0].toFixed(2)}, ${Y} ${point[1].toFixed(2)}`;
let state = null;
function show(element, point) {
  const svg = element.querySelector("svg");
  svg.style.filter = `brightness(${point[0]}) contrast(${point[1]})`;
  svg.setAttribute("aria-label", words(point));
}
async function ask(path, options) {
  for (const id of [...SIDES, "tie"]) get(id).disabled = true;
  try {
    const answer = await fetch(path, options), content = await answer.json();
    if (!answer.ok) throw new Error(content.error);
    state = content; showState();
  } catch (error) { get("message").textContent = `${error.message}; reload the page to go on.`; return; }
  for (const id of [...SIDES, "tie"]) get(id).disabled = false;
}
function tell(winner) {
  if (state === null || get("tie").disabled) return;
  const body = JSON.stringify({ticket: state.ticket, winner});
  ask("/answer", {method: "POST", headers: {"Content-Type": "application/json"}, body});
}
function showState() {
  SIDES.forEach((id, k) => show(get(id), state.points[state.pair[k]]));
  get("message").textContent = `${state.told.length} ${state.told.length === 1 ? "answer" : "answers"} so far.`;
  const low = Math.min(...state.mean), span = Math.max(...state.mean) - low || 1, most = Math.max(...state.std) || 1;
  const hue = k => { const u = (state.mean[k] - low) / span; return `hsl(${225 - 180 * u} ${45 + 50 * u}% ${35 + 25 * u}%)`; };
  plot("mean", "mean utility", k => ({r: 8, fill: hue(k)}), true);
  plot("std", "posterior std", k => ({r: 9 * (state.std[k] / most) ** 2, class: "unsure"}), false);
  get("best").hidden = state.best === null;
  if (state.best !== null) { show(get("best"), state.points[state.best]); get("recommended").textContent = words(state.points[state.best]); }
}
function plot(id, name, look, marks) {
  const svg = draw("svg", {viewBox: "0 0 360 312", role: "img", "aria-label": `${name} over ${X} and ${Y}`});
  for (const v of [x0, (x0 + x1) / 2, x1]) svg.append(draw("text", {x: across(v), y: 294, class: "x"}, v.toFixed(1)));
  for (const v of [y0, (y0 + y1) / 2, y1]) svg.append(draw("text", {x: 34, y: up(v) + 4, class: "y"}, v.toFixed(1)));
  svg.append(draw("text", {x: across((x0 + x1) / 2), y: 309, class: "x"}, X), draw("text", {x: 4, y: 11}, Y));
  state.points.forEach((p, k) => {
    const dot = draw("circle", {cx: across(p[0]), cy: up(p[1]), ...look(k)});
    dot.append(draw("title", {}, `${words(p)}: utility ${state.mean[k].toFixed(2)} ± ${state.std[k].toFixed(2)}`)); svg.append(dot);
  });
  for (const k of new Set(state.told.flatMap(each => each.slice(0, 2)))) svg.append(draw("circle", {cx: across(state.points[k][0]), cy: up(state.points[k][1]), r: 9.5, class: "ring"}));
  if (marks && state.best !== null) svg.append(draw("path", {d: star(...state.points[state.best]), class: "star"}));
  if (marks) state.pair.forEach((k, side) => svg.append(draw("text", {x: across(state.points[k][0]), y: up(state.points[k][1]) - 12, class: "mark"}, "AB"[side])));
  get(id).replaceChildren(svg);
}
function star(x, y) {
  const corner = k => { const a = k * Math.PI / 5, r = k % 2 ? 3.6 : 9; return `${across(x) + r * Math.sin(a)} ${up(y) - r * Math.cos(a)}`; };
  return `M${[...Array(10).keys()].map(corner).join("L")}Z`;
}
SIDES.concat("tie").forEach(id => { get(id).onclick = () => tell(id); });
document.onkeydown = event => { const winner = {ArrowLeft: "first", ArrowRight: "second", "=": "tie"}[event.key]; if (winner && !event.ctrlKey && !event.metaKey && !event.altKey) tell(winner); };
ask("/question");
