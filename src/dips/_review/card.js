"use strict";
// One row on the screen. Text from the data only ever becomes text: no markup is made of it.

const SHOWN = 12; // columns; the rest is folded
const COMPARED = 4; // classes beside the row, at most

const percent = (share) => `${Math.round(100 * share)} %`;

/** The classes to compare the row with: its own and the suggested one, or while these are hidden, the first few. */
function comparedClasses(about, card) {
  if (!card.label) return about.classes.map((_, c) => c).slice(0, card.picture ? 2 * COMPARED : COMPARED);
  const { given, suggested } = card.label;
  const other = suggested >= 0 ? suggested : about.classes.length === 2 ? 1 - given : -1;
  return [given, ...(other >= 0 ? [other] : [])];
}

/** Everything about one row. */
function drawCard(about, card) {
  const box = document.createDocumentFragment();
  const name = `${about.unit} ${card.row.toLocaleString("en")}${card.key ? ` · ${card.key}` : ""}`;
  box.append(make("h2", { id: "row-name", "data-row": card.row }, name[0].toUpperCase() + name.slice(1)));
  box.append(labelsOf(about, card));
  const main = make("div", { class: "beside" });
  const left = make("div", { class: "values" });
  if (card.picture) left.append(...pictureOf(about, card));
  if (about.columns.length) left.append(...valuesOf(about, card));
  main.append(left);
  if (card.label) main.append(learnedOf(about, card));
  box.append(main);
  return box;
}

function labelsOf(about, card) {
  const box = make("div", { class: "labels" });
  if (!card.label) {
    box.append(make("span", { class: "fine" }, "Blinded: the label and the suggestion are shown once you have answered."));
    return box;
  }
  const { given, suggested, p_wrong: wrong } = card.label;
  box.append(make("span", { class: "tag given" }, "given ", make("b", {}, about.classes[given])));
  if (suggested >= 0) box.append(make("span", { class: "tag suggested" }, "suggested ", make("b", {}, about.classes[suggested])));
  if (wrong !== null) box.append(make("span", { class: "tag" }, "wrong: ", make("b", {}, `${percentOf(1000 * wrong)} %`)));
  const rank = card.label.suspicion;
  const unsuspected = card.label.opens ? "Not a suspect, but one of the least believed labels of its class. It is here to learn which classes go wrong." : "Not a suspect. It is here to learn how many errors are missed.";
  box.append(make("p", { class: "why" }, rank ? `${card.label.useful ? "Ranked" : "Suspect"} number ${rank.toLocaleString("en")}: ${card.label.reason}.` : unsuspected));
  if (card.answer !== null || card.status === "unlabeled") {
    const said = card.status === "keep" ? "You kept it." : card.answer === null ? "You said that no class fits." : `You said ${card.answer}.`;
    box.append(make("p", { class: "answered" }, said, card.note ? ` Note: ${card.note}` : ""));
  }
  return box;
}

/** Values beside typical ones, the most important columns first; the rest folded, with a search. */
function valuesOf(about, card) {
  const compared = comparedClasses(about, card);
  const order = about.columns.map((_, j) => j);
  const first = cellsTable(about, card, order.slice(0, SHOWN), compared);
  const rest = order.slice(SHOWN);
  if (!rest.length) return [first];
  const body = cellsTable(about, card, rest, compared);
  const n = rest.filter((j) => isUnusual(about, card, j)).length;
  const search = make("input", { type: "search", id: "columns", placeholder: "Search columns", "aria-label": "Search columns and values", autocomplete: "off" });
  const rows = [...body.tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, k) => (row.hidden = !words.every((word) => texts[k].includes(word))));
  });
  const title = `${rest.length} more columns${n ? `, ${n} unusual` : ""}`;
  return [first, make("details", { id: "rest" }, make("summary", {}, title), search, body)];
}

/** Whether a value is unusual for its given label; while that is hidden, for every class. */
function isUnusual(about, card, j) {
  const unlike = card.unusual[j];
  return card.label ? unlike.includes(card.label.given) : unlike.length === about.classes.length && unlike.length > 0;
}

function cellsTable(about, card, columns, compared) {
  const head = make("tr", {}, make("td", {}), make("th", { scope: "col" }, `this ${about.unit}`), ...compared.map((c) => make("th", { scope: "col" }, make("span", { class: "fine" }, "typical "), about.classes[c])));
  const rows = columns.map((j) => {
    const { name, kind, typical, used } = about.columns[j];
    if (kind === "text") return make("tr", {}, make("th", { scope: "row" }, name), make("td", { colspan: 1 + compared.length }, card.values[j] || "–"));
    const odd = isUnusual(about, card, j);
    const value = make("td", { class: odd ? "odd" : "" }, card.values[j] || "–");
    if (odd) value.append(" ", make("span", { class: "mark" }, "unusual"));
    const others = compared.map((c) => {
      const like = card.values[j] !== "" && card.values[j] === typical[c];
      return make("td", { class: like ? "typical like" : "typical" }, typical[c] || "–");
    });
    return make("tr", used ? {} : { class: "unused" }, make("th", { scope: "row" }, name), value, ...others);
  });
  const marked = card.label ? `unusual: seldom seen with the label ${about.classes[card.label.given]}` : "unusual: seldom seen with any label";
  return make("table", { class: "cells" }, make("caption", {}, marked), make("thead", {}, head), make("tbody", {}, ...rows));
}

function pictureOf(about, card) {
  const few = card.few_pixels ? " few" : "";
  const large = make("img", { class: `picture whole${few}`, src: card.picture, alt: `${about.unit} ${card.row}${card.key ? ` · ${card.key}` : ""}` });
  const near = card.neighbors.map((n, k) => {
    const label = card.label ? card.label.neighbors[k] : null;
    const image = make("img", { class: `picture${few}`, src: n.picture, alt: label === null ? `a similar ${about.unit}` : `a similar ${about.unit}, given ${label}` });
    return make("figure", {}, image, make("figcaption", label === null ? {} : { title: label }, label ?? ""));
  });
  const groups = comparedClasses(about, card).map((c) => {
    const shown = (about.examples[c] || []).map((src) => make("img", { class: `picture${few}`, src, alt: `a typical ${about.classes[c]}` }));
    return make("div", { class: "group" }, make("h3", {}, `typical ${about.classes[c]}`), ...shown);
  });
  return [make("div", { class: "photo" }, large, make("div", {}, make("h3", {}, "most alike"), make("div", { class: "near" }, ...near), ...groups))];
}

/** How the label was learned: the curve, and its place on the map. */
function learnedOf(about, card) {
  const box = make("aside", { class: "learned", "aria-label": "How the label was learned" });
  const { curve, given } = card.label;
  box.append(make("h3", {}, "Learning curve"), make("p", { class: "fine" }, `Probability of ${about.classes[given]} along the training`));
  if (curve) {
    const points = { n_curve: curve.length, n_judged_by: curve.length, n_checkpoints: about.n_checkpoints, n_warm_up: about.n_warm_up, round: [0], useful: [card.label.suspicion ? 0 : 1] };
    box.append(drawCurve({ points, unit: about.unit }, curve.map((p) => 255 * p), 0));
  } else {
    box.append(make("p", { class: "fine" }, "None was kept for this row."));
  }
  if (about.map.height && card.label.height !== null) {
    box.append(make("h3", {}, "On the map of labels"), drawMap(about.map, card.label));
    box.append(make("p", { class: "fine" }, about.map.watched ? "Up: learned with confidence. Right: the model stayed undecided." : "Up: probably right. Right: unseen models were undecided."));
  }
  return box;
}

/** A small map: all labels faint, this one marked. */
function drawMap(map, label) {
  const [w, h, left, bottom] = [360, 210, 34, 18];
  const x = (across) => left + (across / 0.255) * (w - left - 8);
  const y = (height) => 6 + (1 - height) * (h - 6 - bottom);
  const words = `Confidence ${label.height.toFixed(2)}, uncertainty ${label.across.toFixed(2)}`;
  const svg = make("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": words, class: "small-map" });
  for (const p of [0, 0.5, 1]) {
    svg.append(make("line", { class: "grid", x1: left, x2: w - 8, y1: y(p), y2: y(p) }));
    svg.append(make("text", { class: "tick end", x: left - 5, y: y(p) + 4 }, p));
  }
  for (const useful of [1, 0]) {
    const dots = map.height.map((v, k) => (map.useful[k] === useful ? `M${x(map.across[k] / 1000).toFixed(1)} ${y(v / 1000).toFixed(1)}h0` : "")).join("");
    if (dots) svg.append(make("path", { class: useful ? "dots useful" : "dots suspect", d: dots }));
  }
  svg.append(make("circle", { class: "here", cx: x(label.across), cy: y(label.height), r: 7 }));
  return svg;
}
