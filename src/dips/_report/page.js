"use strict";
// Puts the page together.

function noteOf({ points, unit }) {
  const [shown, all] = [points.row.length.toLocaleString("en"), points.n_judged.toLocaleString("en")];
  return points.grid ? `${shown} of ${all} judged ${unit}s are drawn, the suspects to look at first among them; the shading shows where all of them lie.` : `All ${all} judged ${unit}s are drawn.`;
}

/** Thresholds of each class, of which one is shown: that which the reader picks. */
function showClasses({ thresholds, classes }) {
  const parts = [...document.querySelectorAll(".of-class")];
  for (const part of parts.filter((each) => each.querySelector(".thresholds"))) {
    drawLine(part, thresholds[part.dataset.class], cut(classes[part.dataset.class], 30));
  }
  byId("which")?.addEventListener("change", ({ target }) => {
    for (const part of parts) part.hidden = part.dataset.class !== target.value;
  });
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  const curves = data.points.curves ? decodeBytes(data.points.curves) : null;
  const detail = (i) => describe(data, curves, i);
  const map = new LabelMap(data, (i) => byId("panel").replaceChildren(detail(i)));
  const table = new SuspectTable(data, detail, (i) => map.select(i));
  byId("mapnote").textContent = noteOf(data);
  showClasses(data);
  const folds = [...document.querySelectorAll("details.fold")];
  for (const link of document.querySelectorAll("nav a")) {
    link.addEventListener("click", () => {
      for (const fold of document.querySelectorAll(`${link.hash} > details.fold`)) fold.open = true;
    });
  }
  addEventListener("beforeunload", (event) => {
    if (!table.isSaved) event.preventDefault();
  });
  const first = suspectsOf(data.points)[0];
  if (first !== undefined) map.select(first);
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    map.recolor();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => map.recolor());
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    for (const fold of folds) fold.open = true;
    root.dataset.theme = "light";
    map.recolor();
  });
  addEventListener("afterprint", () => {
    if (before === undefined) delete root.dataset.theme;
    else root.dataset.theme = before;
    map.recolor();
  });
}

start();
