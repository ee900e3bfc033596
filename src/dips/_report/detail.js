"use strict";
// One row in full. Text from the data only ever becomes text: no markup is made of it.

const byId = (id) => document.getElementById(id);

/** An element with text and attributes; text is set as text. */
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "line", "polyline", "circle", "text", "rect"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  return node;
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A name that may be broken after its dots, bars and dashes, and nowhere else. */
function softly(name) {
  return String(name)
    .split(/(?<=[_./-])(?=[^\s_./-])/)
    .flatMap((part, k) => (k ? [make("wbr"), part] : [part]));
}

/** A picture that came with the data. Few pixels are shown as they are, not smoothed. */
function picture(data, encoded, words, size) {
  const { prefix, width, height } = data.points.thumbnails;
  const few = Math.max(width, height) <= 64 ? " few" : "";
  return make("img", { src: prefix + encoded, alt: words, width, height, class: `picture ${size}${few}` });
}

/** A point's image, and useful images of its label and of the suggested one. */
function pictures(data, i) {
  const { points, classes } = data;
  const compared = [points.label[i], points.suggested[i]].filter((c) => c >= 0);
  const examples = compared.map((c) => {
    const shown = points.examples[c].map((encoded) => picture(data, encoded, `a useful ${classes[c]}`, "small"));
    return make("figure", {}, make("figcaption", {}, `useful as ${classes[c]}`), ...shown);
  });
  return make("div", { class: "pictures" }, picture(data, points.pictures[i], wordsOf(data, i), "large"), make("div", {}, ...examples));
}

/** The learning curve of one row: the probability of its label at checkpoints of the training. */
function drawCurve(data, curves, i) {
  const { points } = data;
  const [w, h, left, bottom] = [360, 150, 34, 26];
  const n = points.n_curve;
  const at = (k, p) => [left + (k / Math.max(n - 1, 1)) * (w - left - 8), 8 + (1 - p) * (h - 8 - bottom)];
  const svg = make("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Learning curve of this ${data.unit}` });
  if (points.n_judged_by < n) {
    const x = at(n - points.n_judged_by - 0.5, 0)[0];
    svg.append(make("rect", { class: "judged", x, y: 8, width: w - 8 - x, height: h - 8 - bottom }));
  }
  for (const p of [0, 0.5, 1]) {
    const [x, y] = at(0, p);
    svg.append(make("line", { class: "grid", x1: x, x2: w - 8, y1: y, y2: y }));
    svg.append(make("text", { class: "tick end", x: x - 5, y: y + 4 }, p));
  }
  const line = Array.from({ length: n }, (_, k) => at(k, curves[i * n + k] / 255).map((v) => v.toFixed(1)).join(","));
  const again = points.n_warm_up || 0; // another network begins
  for (const part of [line.slice(0, again), line.slice(again)].filter((p) => p.length)) {
    const path = make("polyline", { class: "line", points: part.join(" ") });
    path.style.stroke = `var(${GROUPS[groupOf(points, i)].color})`;
    svg.append(path);
  }
  svg.append(make("text", { class: "tick", x: left, y: h - 6 }, again ? "warm-up, then the rounds" : "first checkpoint"));
  svg.append(make("text", { class: "tick end", x: w - 8, y: h - 6 }, `last of ${points.n_checkpoints}`));
  return svg;
}

/** The row's values beside the typical ones of its own label and of the one suggested. */
function valuesTable(data, i) {
  const { points, classes } = data;
  const other = points.suggested[i] >= 0 ? points.suggested[i] : classes.length === 2 ? 1 - points.label[i] : -1;
  const compared = [points.label[i], ...(other >= 0 ? [other] : [])];
  const head = make("tr", {}, make("td"), make("th", { scope: "col" }, "this row"), ...compared.map((c) => make("th", { scope: "col" }, `typical ${cut(classes[c], 40)}`)));
  const rows = points.values.map((column, j) => {
    const value = valueAt(column, i);
    const typical = compared.map((c) => points.typical[c][j]);
    const like = typical.length === 2 && typical[0] !== typical[1] && value === typical[1];
    return make("tr", {}, make("th", { scope: "row" }, ...softly(column.name)), make("td", like ? { class: "differs" } : {}, value || "–"), ...typical.map((t) => make("td", { class: "fine" }, t || "–")));
  });
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

/** Everything about one row. */
function describe(data, curves, i) {
  const { points, classes } = data;
  const box = make("div", { class: "row-detail" });
  const name = nameOf(data, i);
  box.append(make("h3", {}, name[0].toUpperCase() + name.slice(1)));
  const labels = make("div", { class: "labels" });
  const given = points.round[i] > 0 ? `pseudo-label of round ${points.round[i]}: ` : "given label: ";
  labels.append(make("span", {}, given, make("b", {}, classes[points.label[i]])));
  if (points.suggested[i] >= 0) labels.append(make("span", {}, "suggested: ", make("b", {}, classes[points.suggested[i]])));
  box.append(labels);
  const wrong = wrongAt(points, i) >= 0 ? [`wrong with a probability of ${percentOf(points.wrong[i])} %`] : [];
  const learned = points.watched ?? true ? [`confidence ${(points.confidence[i] / 1000).toFixed(2)}`, `uncertainty ${(points.aleatoric[i] / 1000).toFixed(2)}`] : [];
  const measured = [...wrong, ...learned].join(", ");
  const why = points.rank[i] > 0 ? `${points.useful[i] ? "Ranked" : "Suspect"} number ${points.rank[i]}: ${reasonOf(data, i)}.` : `${points.useful[i] ? "Useful" : "Suspect"}: ${measured}.`;
  box.append(make("p", { class: "fine" }, why));
  if (points.pictures) box.append(pictures(data, i));
  if (curves && (i + 1) * points.n_curve <= curves.length) {
    const judged = points.n_judged_by < points.n_curve ? "; judged by the shaded part" : "";
    box.append(make("div", { class: "fine" }, `Probability of ${classes[points.label[i]]} along the training${judged}`), drawCurve(data, curves, i));
  }
  if (points.values.length) box.append(valuesTable(data, i));
  return box;
}
