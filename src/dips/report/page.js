"use strict";
// First what can be tested without a page, then the page. Text from the data only ever becomes text: no markup is made of it.

const GROUPS = [
  { key: "useful", title: "trusted label", color: "--useful", shape: "circle" },
  { key: "suspect", title: "suspect label", color: "--suspect", shape: "cross" },
  { key: "pseudo", title: "pseudo-label, kept", color: "--pseudo", shape: "square" },
  { key: "dropped", title: "pseudo-label, dropped", color: "--other", shape: "hollow" },
];
const PAGE = 25;
const MAX_UNCERTAINTY = 0.25;

/** Bytes from base64. */
function decodeBytes(text) {
  const raw = atob(text);
  return Uint8Array.from(raw, (c) => c.charCodeAt(0));
}

/** Which of GROUPS a point belongs to. */
function groupOf(points, i) {
  if (points.round[i] > 0) return points.useful[i] ? 2 : 3;
  return points.useful[i] ? 0 : 1;
}

/** The text of a column's value at a point. */
function valueAt(column, i) {
  return column.distinct[column.codes[i]];
}

/** Why a label is suspect, from the phrases that came with the data. */
function reasonOf(data, i) {
  const { points, classes, phrases } = data;
  const fill = (phrase, number, label) => phrase.replace("{}", () => number).replace("{label}", () => label);
  const percent = (thousandths) => Math.round(thousandths / 10);
  const parts = [fill(phrases.learned[points.learned[i]], percent(points.confidence[i]), "")];
  if (points.unseen[i] >= 0) parts.push(fill(phrases.unseen, percent(points.unseen[i]), classes[points.label[i]]));
  parts.push(points.suggested[i] >= 0 ? fill(phrases.other, "", classes[points.suggested[i]]) : phrases.no_other);
  return parts.join("; ");
}

/** Positions of the suspect labels, the one to look at first on top. */
function suspectsOf(points) {
  const found = points.rank.map((rank, i) => [rank, i]).filter(([rank]) => rank > 0);
  return found.sort((a, b) => a[0] - b[0]).map(([, i]) => i);
}

/** The columns of the table of suspects: title, kind, and the value at a point. */
function tableColumns(data) {
  const { points, classes } = data;
  const label = (codes) => (i) => (codes[i] < 0 ? "–" : classes[codes[i]]);
  const percent = (values) => (i) => (values[i] < 0 ? "" : values[i] / 10);
  const columns = [
    { title: "#", number: true, at: (i) => points.rank[i] },
    { title: "row", number: true, at: (i) => points.row[i] },
    { title: "given", at: label(points.label) },
    { title: "suggested", at: label(points.suggested) },
    { title: "belief %", number: true, at: percent(points.confidence) },
  ];
  if (points.id.length) columns.splice(2, 0, { title: points.id_names.join(" · "), at: (i) => points.id[i] });
  if (points.unseen.some((v) => v >= 0)) columns.push({ title: "unseen %", number: true, at: percent(points.unseen) });
  for (const column of points.values) {
    columns.push({ title: column.name, number: column.kind === "number", fromData: true, at: (i) => valueAt(column, i) });
  }
  return columns;
}

/** Positions whose text holds every word of the search, and whose labels are the ones asked for. */
function filterRows(data, positions, { text = "", given = -1, instead = -2 }) {
  const { points, classes } = data;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return positions.filter((i) => {
    if (given >= 0 && points.label[i] !== given) return false;
    if (instead >= -1 && points.suggested[i] !== instead) return false;
    if (!words.length) return true;
    const cells = [points.row[i], points.id[i] || "", classes[points.label[i]], ...points.values.map((c) => valueAt(c, i))];
    const all = cells.join("\u0000").toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** Sorted positions; numbers by value, texts by the alphabet, what is missing last. */
function sortRows(positions, column, descending) {
  const isMissing = (v) => v === "" || v === "–" || v === undefined || Number.isNaN(v);
  const read = (i) => (column.number && column.at(i) !== "" ? Number(column.at(i)) : column.at(i));
  const sign = descending ? -1 : 1;
  return [...positions].sort((a, b) => {
    const [x, y] = [read(a), read(b)];
    if (isMissing(x) || isMissing(y)) return isMissing(x) - isMissing(y);
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), undefined, { numeric: true });
  });
}

/** A cell that no spreadsheet runs: texts that begin as a formula does get an apostrophe in front. */
function defused(cell) {
  const text = String(cell);
  const isNumber = text.trim() !== "" && Number.isFinite(Number(text));
  return /^[=+\-@\t\r]/.test(text) && !isNumber ? `'${text}` : text;
}

/** Comma-separated text. */
function toCsv(rows) {
  const quoted = (cell) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map((cell) => quoted(defused(cell))).join(",")).join("\n") + "\n";
}

/** The visible point nearest to a place, or -1 where none is near enough. */
function nearest(xs, ys, isVisible, x, y, limit) {
  let [best, found] = [limit * limit, -1];
  for (let i = 0; i < xs.length; i++) {
    const distance = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
    if (distance < best && isVisible(i)) [best, found] = [distance, i];
  }
  return found;
}

/** The nearest visible point in a direction (dx, dy), sideways steps counting threefold; the same one if there is none. */
function neighbor(xs, ys, isVisible, from, dx, dy) {
  let [best, found] = [Infinity, from];
  for (let i = 0; i < xs.length; i++) {
    const ahead = (xs[i] - xs[from]) * dx + (ys[i] - ys[from]) * dy;
    const aside = Math.abs((xs[i] - xs[from]) * dy) + Math.abs((ys[i] - ys[from]) * dx);
    const distance = ahead + 3 * aside;
    if (i !== from && ahead > 0 && distance < best && isVisible(i)) [best, found] = [distance, i];
  }
  return found;
}

// ---------------------------------------------------------------------------------------------------------------------

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

/** The learning curve of one row: the probability of its label at checkpoints of the training. */
function drawCurve(data, curves, i) {
  const { points } = data;
  const [w, h, left, bottom] = [360, 150, 34, 26];
  const n = points.n_curve;
  const at = (k, p) => [left + (k / Math.max(n - 1, 1)) * (w - left - 8), 8 + (1 - p) * (h - 8 - bottom)];
  const svg = make("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "Learning curve of this row" });
  for (const p of [0, 0.5, 1]) {
    const [x, y] = at(0, p);
    svg.append(make("line", { class: "grid", x1: x, x2: w - 8, y1: y, y2: y }));
    svg.append(make("text", { class: "tick end", x: x - 5, y: y + 4 }, p));
  }
  const line = Array.from({ length: n }, (_, k) => at(k, curves[i * n + k] / 255).map((v) => v.toFixed(1)).join(",")).join(" ");
  const path = make("polyline", { class: "line", points: line });
  path.style.stroke = `var(${GROUPS[groupOf(points, i)].color})`;
  svg.append(path, make("text", { class: "tick", x: left, y: h - 6 }, "first checkpoint"));
  svg.append(make("text", { class: "tick end", x: w - 8, y: h - 6 }, `last of ${points.n_checkpoints}`));
  return svg;
}

/** The row's values beside the typical ones of its own label and of the one suggested. */
function valuesTable(data, i) {
  const { points, classes } = data;
  const other = points.suggested[i] >= 0 ? points.suggested[i] : classes.length === 2 ? 1 - points.label[i] : -1;
  const compared = [points.label[i], ...(other >= 0 ? [other] : [])];
  const head = make("tr", {}, make("th", {}, ""), make("th", {}, "this row"), ...compared.map((c) => make("th", {}, `typical ${classes[c]}`)));
  const rows = points.values.map((column, j) => {
    const value = valueAt(column, i);
    const typical = compared.map((c) => points.typical[c][j]);
    const like = typical.length === 2 && typical[0] !== typical[1] && value === typical[1];
    return make("tr", {}, make("th", {}, column.name), make("td", like ? { class: "differs" } : {}, value || "–"), ...typical.map((t) => make("td", { class: "fine" }, t || "–")));
  });
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

/** Everything about one row. */
function describe(data, curves, i) {
  const { points, classes } = data;
  const box = make("div", { class: "row-detail" });
  const id = points.id.length ? ` · ${points.id[i]}` : "";
  box.append(make("h3", {}, `Row ${points.row[i].toLocaleString("en")}${id}`));
  const labels = make("div", { class: "labels" });
  const given = points.round[i] > 0 ? `pseudo-label of round ${points.round[i]}: ` : "given label: ";
  labels.append(make("span", {}, given, make("b", {}, classes[points.label[i]])));
  if (points.suggested[i] >= 0) labels.append(make("span", {}, "suggested: ", make("b", {}, classes[points.suggested[i]])));
  box.append(labels);
  const measured = `confidence ${(points.confidence[i] / 1000).toFixed(2)}, uncertainty ${(points.aleatoric[i] / 1000).toFixed(2)}`;
  const why = points.rank[i] > 0 ? `Suspect number ${points.rank[i]}: ${reasonOf(data, i)}.` : `${points.useful[i] ? "Trusted" : "Not used"}: ${measured}.`;
  box.append(make("p", { class: "fine" }, why));
  if (curves) box.append(make("div", { class: "fine" }, `Probability of ${classes[points.label[i]]} along the training`), drawCurve(data, curves, i));
  box.append(valuesTable(data, i));
  return box;
}

/** The map. */
class LabelMap {
  constructor(data, onSelect) {
    this.data = data;
    this.points = data.points;
    this.onSelect = onSelect;
    this.canvas = byId("canvas");
    this.hidden = new Set();
    this.hovered = this.selected = -1;
    this.groups = this.points.row.map((_, i) => groupOf(this.points, i));
    this.grid = this.points.grid && decodeBytes(this.points.grid.counts);
    this.canvas.addEventListener("pointermove", (event) => this.hover(this.find(event, 14)));
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
    this.canvas.addEventListener("click", (event) => this.select(this.find(event, 24)));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.layout()).observe(this.canvas);
    this.legend();
  }

  isVisible = (i) => !this.hidden.has(this.groups[i]);

  layout() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width) return;
    const scale = window.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    this.box = { left: 56, right: width - 10, top: 10, bottom: height - 42, scale, width, height };
    const [most, n] = [MAX_UNCERTAINTY * 1.02, this.points.row.length];
    this.place = (confidence, aleatoric) => [
      this.box.left + (aleatoric / most) * (this.box.right - this.box.left),
      this.box.bottom - confidence * (this.box.bottom - this.box.top),
    ];
    [this.xs, this.ys] = [new Float64Array(n), new Float64Array(n)];
    for (let i = 0; i < n; i++) [this.xs[i], this.ys[i]] = this.place(this.points.confidence[i] / 1000, this.points.aleatoric[i] / 1000);
    this.draw();
  }

  draw() {
    if (!this.box) return;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.box.scale, 0, 0, this.box.scale, 0, 0);
    pen.clearRect(0, 0, this.box.width, this.box.height);
    this.drawGrid(pen);
    this.drawAxes(pen);
    for (const g of [3, 2, 0, 1]) {
      if (this.hidden.has(g)) continue;
      pen.fillStyle = pen.strokeStyle = color(GROUPS[g].color);
      pen.globalAlpha = g === 1 ? 0.9 : 0.5;
      for (let i = 0; i < this.xs.length; i++) if (this.groups[i] === g) drawMark(pen, GROUPS[g].shape, this.xs[i], this.ys[i], 3.2);
    }
    pen.globalAlpha = 1;
    for (const i of [this.hovered, this.selected]) if (i >= 0) this.ring(pen, i);
  }

  drawGrid(pen) {
    if (!this.grid) return;
    const [across, up] = this.points.grid.shape;
    pen.fillStyle = color("--other");
    for (let a = 0; a < across; a++) {
      for (let b = 0; b < up; b++) {
        const count = this.grid[a * up + b];
        if (!count) continue;
        const [x0, y1] = this.place(b / up, (a / across) * MAX_UNCERTAINTY);
        const [x1, y0] = this.place((b + 1) / up, ((a + 1) / across) * MAX_UNCERTAINTY);
        pen.globalAlpha = 0.08 + (0.32 * count) / 255;
        pen.fillRect(x0, y0, x1 - x0, y1 - y0);
      }
    }
    pen.globalAlpha = 1;
  }

  drawAxes(pen) {
    const { left, right, top, bottom } = this.box;
    pen.font = "12px system-ui, sans-serif";
    pen.lineWidth = 1;
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      const [, y] = this.place(tick, 0);
      pen.strokeStyle = color("--line");
      line(pen, left, y, right, y);
      pen.fillStyle = color("--soft");
      pen.textAlign = "right";
      pen.fillText(tick, left - 6, y + 4);
    }
    pen.textAlign = "center";
    for (const tick of [0, 0.05, 0.1, 0.15, 0.2, 0.25]) pen.fillText(tick, this.place(0, tick)[0], bottom + 16);
    pen.fillText("uncertainty: how undecided the model was", (left + right) / 2, bottom + 34);
    pen.save();
    pen.translate(12, (top + bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText("confidence in the label, over the training", 0, 0);
    pen.restore();
    this.drawThresholds(pen);
  }

  drawThresholds(pen) {
    const { confidence, aleatoric } = this.points.thresholds;
    pen.save();
    pen.strokeStyle = pen.fillStyle = color("--suspect");
    pen.setLineDash([5, 4]);
    pen.textAlign = "right";
    if (confidence !== undefined) {
      const [, y] = this.place(confidence, 0);
      line(pen, this.box.left, y, this.box.right, y);
      pen.fillText(`useful above ${confidence}`, this.box.right - 4, y - 5);
    }
    if (aleatoric !== undefined) {
      const [x] = this.place(0, aleatoric);
      line(pen, x, this.box.top, x, this.box.bottom);
      pen.fillText(`useful left of ${aleatoric.toFixed(3)}`, x - 5, this.box.bottom - 6);
    }
    pen.restore();
  }

  ring(pen, i) {
    pen.lineWidth = 2;
    pen.strokeStyle = color("--ink");
    pen.beginPath();
    pen.arc(this.xs[i], this.ys[i], i === this.selected ? 9 : 7, 0, 2 * Math.PI);
    pen.stroke();
  }

  find(event, limit) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return nearest(this.xs, this.ys, this.isVisible, event.clientX - left, event.clientY - top, limit);
  }

  hover(i) {
    const tip = byId("tip");
    tip.hidden = i < 0;
    if (i >= 0) {
      const { points, classes } = this.data;
      const lines = [`row ${points.row[i]}${points.id.length ? ` · ${points.id[i]}` : ""}`, `label ${classes[points.label[i]]}`];
      if (points.suggested[i] >= 0) lines.push(`suggested ${classes[points.suggested[i]]}`);
      tip.textContent = lines.join("\n");
      tip.style.left = `${Math.min(this.xs[i] + 12, this.box.width - 170)}px`;
      tip.style.top = `${Math.max(this.ys[i] - 64, 0)}px`;
    }
    if (i !== this.hovered) {
      this.hovered = i;
      this.draw();
    }
  }

  select(i) {
    if (i < 0) return;
    this.selected = i;
    this.draw();
    this.onSelect(i);
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step || !this.xs.length) return;
    event.preventDefault();
    const first = suspectsOf(this.points)[0] ?? 0;
    this.select(this.selected < 0 ? first : neighbor(this.xs, this.ys, this.isVisible, this.selected, ...step));
  }

  legend() {
    GROUPS.forEach((group, g) => {
      const n = this.groups.filter((other) => other === g).length;
      if (!n) return;
      const mark = make("canvas", { width: 14, height: 14, "aria-hidden": "true" });
      mark.style.cssText = "width:14px;height:14px";
      const button = make("button", { type: "button", "aria-pressed": "true" }, mark, `${group.title} (${n.toLocaleString("en")})`);
      button.addEventListener("click", () => {
        this.hidden[this.hidden.has(g) ? "delete" : "add"](g);
        button.setAttribute("aria-pressed", String(!this.hidden.has(g)));
        this.draw();
      });
      byId("legend").append(button);
      this.marks = [...(this.marks || []), [mark, group]];
    });
    this.recolor();
  }

  recolor() {
    for (const [mark, group] of this.marks || []) {
      const pen = mark.getContext("2d");
      pen.clearRect(0, 0, 14, 14);
      pen.fillStyle = pen.strokeStyle = color(group.color);
      drawMark(pen, group.shape, 7, 7, 4.5);
    }
    this.draw();
  }
}

function line(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

function drawMark(pen, shape, x, y, r) {
  pen.lineWidth = 1.8;
  pen.beginPath();
  if (shape === "circle") pen.arc(x, y, r, 0, 2 * Math.PI);
  if (shape === "square" || shape === "hollow") pen.rect(x - r * 0.85, y - r * 0.85, 1.7 * r, 1.7 * r);
  if (shape === "cross") {
    pen.moveTo(x - r, y - r);
    pen.lineTo(x + r, y + r);
    pen.moveTo(x + r, y - r);
    pen.lineTo(x - r, y + r);
  }
  if (shape === "cross" || shape === "hollow") pen.stroke();
  else pen.fill();
}

/** The table of suspects. */
class SuspectTable {
  constructor(data, detail, onOpen) {
    this.data = data;
    this.detail = detail;
    this.onOpen = onOpen;
    this.all = suspectsOf(data.points);
    this.columns = tableColumns(data);
    this.shown = this.columns.filter((c) => !c.fromData).concat(this.columns.filter((c) => c.fromData).slice(0, 3));
    [this.sortBy, this.descending, this.page, this.open] = [0, false, 0, -1];
    this.filters();
    this.head();
    this.update();
    byId("back").addEventListener("click", () => this.turn(-1));
    byId("next").addEventListener("click", () => this.turn(1));
    byId("export").addEventListener("click", () => this.save());
  }

  filters() {
    const { classes, points } = this.data;
    const option = (value, text) => make("option", { value }, text);
    byId("given").append(option(-1, "any given label"), ...classes.map((c, k) => option(k, `given ${c}`)));
    byId("instead").append(option(-2, "any suggestion"), ...classes.map((c, k) => option(k, `suggested ${c}`)), option(-1, "no suggestion"));
    for (const id of ["search", "given", "instead"]) {
      byId(id).addEventListener("input", () => {
        [this.page, this.open] = [0, -1];
        this.update();
      });
    }
    this.isCut = points.n_suspects_all > this.all.length;
  }

  head() {
    const row = make("tr");
    this.shown.forEach((column, j) => {
      const button = make("button", { type: "button" }, column.title.length > 24 ? `${column.title.slice(0, 23)}…` : column.title);
      button.addEventListener("click", () => {
        [this.descending, this.sortBy, this.page, this.open] = [this.sortBy === j ? !this.descending : false, j, 0, -1];
        this.update();
      });
      row.append(make("th", { scope: "col", class: column.number ? "num" : "" }, button));
    });
    byId("table").tHead.append(row);
  }

  rows() {
    const chosen = { text: byId("search").value, given: Number(byId("given").value), instead: Number(byId("instead").value) };
    return sortRows(filterRows(this.data, this.all, chosen), this.shown[this.sortBy], this.descending);
  }

  update() {
    this.found = this.rows();
    [...byId("table").tHead.rows[0].cells].forEach((cell, j) => {
      cell.setAttribute("aria-sort", j !== this.sortBy ? "none" : this.descending ? "descending" : "ascending");
      const title = cell.firstChild.textContent.replace(/ [▲▼]$/, "");
      cell.firstChild.textContent = j === this.sortBy ? `${title} ${this.descending ? "▼" : "▲"}` : title;
    });
    const start = this.page * PAGE;
    const body = byId("table").tBodies[0];
    body.replaceChildren(...this.found.slice(start, start + PAGE).map((i) => this.row(i)));
    if (!this.found.length) body.append(make("tr", {}, make("td", { colspan: this.shown.length }, this.all.length ? "No suspect label matches." : "No label is suspect.")));
    const n = this.found.length;
    const total = this.isCut ? `the first ${this.all.length.toLocaleString("en")} of ${this.data.points.n_suspects_all.toLocaleString("en")}; all are in ${this.data.points.all_in}` : `${this.all.length.toLocaleString("en")} in all`;
    byId("count").textContent = n === this.all.length ? total : `${n.toLocaleString("en")} found; ${total}`;
    byId("page").textContent = n ? `${start + 1}–${Math.min(start + PAGE, n)} of ${n.toLocaleString("en")}` : "";
    byId("back").disabled = this.page === 0;
    byId("next").disabled = start + PAGE >= n;
  }

  row(i) {
    const cells = this.shown.map((column) => make("td", { class: column.number ? "num" : "" }, column.at(i)));
    const row = make("tr", { tabindex: "0", "aria-selected": "false", "data-point": i }, ...cells);
    const toggle = () => this.toggle(row, i);
    row.addEventListener("click", toggle);
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        toggle();
      }
    });
    return row;
  }

  toggle(row, i) {
    const wasOpen = row.getAttribute("aria-selected") === "true";
    for (const other of byId("table").querySelectorAll(".opened")) other.remove();
    for (const other of byId("table").querySelectorAll("[aria-selected=true]")) other.setAttribute("aria-selected", "false");
    if (wasOpen) return;
    row.setAttribute("aria-selected", "true");
    row.after(make("tr", { class: "opened" }, make("td", { colspan: this.shown.length }, make("div", { class: "panel" }, this.detail(i)))));
    this.onOpen(i);
  }

  turn(by) {
    this.page += by;
    this.update();
  }

  save() {
    const header = [...this.columns.map((c) => c.title), "why"];
    const rows = this.found.map((i) => [...this.columns.map((c) => c.at(i)), reasonOf(this.data, i)]);
    const url = URL.createObjectURL(new Blob(["\ufeff", toCsv([header, ...rows])], { type: "text/csv" }));
    const link = make("a", { href: url, download: "suspects.csv" });
    link.click();
    URL.revokeObjectURL(url);
  }
}

function noteOf(points) {
  const [shown, all] = [points.row.length.toLocaleString("en"), points.n_judged.toLocaleString("en")];
  return points.grid ? `${shown} of ${all} judged rows are drawn, the suspects to look at first among them; the shading shows where all of them lie.` : `All ${all} judged rows are drawn.`;
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  const curves = data.points.curves ? decodeBytes(data.points.curves) : null;
  const detail = (i) => describe(data, curves, i);
  const map = new LabelMap(data, (i) => byId("panel").replaceChildren(detail(i)));
  new SuspectTable(data, detail, (i) => map.select(i));
  byId("mapnote").textContent = noteOf(data.points);
  const first = suspectsOf(data.points)[0];
  if (first !== undefined) byId("panel").replaceChildren(detail(first));
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
    root.dataset.theme = "light";
    map.recolor();
  });
  addEventListener("afterprint", () => {
    if (before === undefined) delete root.dataset.theme;
    else root.dataset.theme = before;
    map.recolor();
  });
}

if (typeof module === "undefined") start();
else module.exports = { decodeBytes, groupOf, reasonOf, suspectsOf, tableColumns, filterRows, sortRows, defused, toCsv, nearest, neighbor };
