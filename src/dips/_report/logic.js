"use strict";
// What the page computes; it touches no page, so that it can be tested without one.

const GROUPS = [
  { key: "useful", title: "useful label", color: "--useful", shape: "circle" },
  { key: "suspect", title: "suspect label", color: "--suspect", shape: "cross" },
  { key: "pseudo", title: "useful pseudo-label", color: "--pseudo", shape: "square" },
  { key: "suspectPseudo", title: "suspect pseudo-label", color: "--other", shape: "hollow" },
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

/** Probability in thousandths that a label is wrong; -1 without beliefs. */
function wrongAt(points, i) {
  return points.wrong ? points.wrong[i] : -1;
}

/** A percentage as a cell shows it, to a tenth; none is written as if it were certain. */
function tenthOf(percent) {
  return percent >= 100 ? ">99.9" : percent <= 0 ? "<0.1" : percent.toFixed(1);
}

/** A probability in whole percent, from thousandths; none is written as if it were certain. */
function percentOf(thousandths) {
  const percent = Math.round(thousandths / 10);
  return percent >= 100 ? "over 99" : percent <= 0 ? "under 1" : String(percent);
}

/** A text of at most n characters. */
function cut(text, n) {
  return text.length > n ? `${text.slice(0, n - 1)}…` : text;
}

/** About how many of some labels are wrong, in words; nothing where that is not known. */
function worthOf(points, positions) {
  if (!positions.length || positions.some((i) => wrongAt(points, i) < 0)) return "";
  const n = Math.round(positions.reduce((sum, i) => sum + points.wrong[i], 0) / 1000);
  return n ? `, about ${n} of these wrong` : ", hardly any of these wrong";
}

/** Why a label is suspect, from the phrases that came with the data. */
function reasonOf(data, i) {
  const { points, classes, phrases } = data;
  const fill = (phrase, number, label) => phrase.replace("{}", () => number).replace("{label}", () => label);
  const wrong = wrongAt(points, i);
  const parts = points.said_first && points.said_first[i] ? [points.said_first[i]] : [];
  parts.push(wrong >= 0 ? fill(phrases.wrong, percentOf(wrong), "") : fill(phrases.learned[points.learned[i]], percentOf(points.confidence[i]), ""));
  if (points.unseen[i] >= 0) parts.push(fill(phrases.unseen, percentOf(points.unseen[i]), classes[points.label[i]]));
  const other = wrong >= 0 && wrong < 500 ? phrases.if_wrong : phrases.other;
  parts.push(points.suggested[i] >= 0 ? fill(other, "", classes[points.suggested[i]]) : phrases.no_other);
  return parts.join("; ");
}

/** What a point is called: its number, and its name where it has one. */
function nameOf(data, i) {
  const { points, unit } = data;
  return `${unit} ${points.row[i].toLocaleString("en")}${points.id.length ? ` · ${points.id[i]}` : ""}`;
}

/** A point in words, for whoever cannot see its picture. */
function wordsOf(data, i) {
  const { points, classes } = data;
  const suggested = points.suggested[i] >= 0 ? `, suggested ${classes[points.suggested[i]]}` : "";
  return `${nameOf(data, i)}: label ${classes[points.label[i]]}${suggested}`;
}

/** Positions of the suspect labels, the one to look at first on top. */
function suspectsOf(points) {
  const found = points.rank.map((rank, i) => [rank, i]).filter(([rank]) => rank > 0);
  return found.sort((a, b) => a[0] - b[0]).map(([, i]) => i);
}

/** What a person may say of a label: a class, that it is right, or that nobody can tell. */
function answersOf(classes) {
  return [...classes, ...["keep", "unlabeled"].filter((word) => !classes.includes(word))];
}

/** The file that dips takes back: one line for every label that a person has said something of. */
function correctionsOf(data, corrected) {
  const { points, classes, unit } = data;
  const names = points.id_names ?? [];
  const isWhole = names.length === 1 && points.id.every((id) => !id.endsWith("…"));
  const called = [unit, "given", "label"].includes(names[0]) ? `${names[0]} (input)` : names[0];
  const [header, key] = isWhole ? [[unit, called], (i) => [points.row[i], points.id[i]]] : [[unit], (i) => [points.row[i]]];
  const lines = [...corrected].map(([i, answer]) => [...key(i), classes[points.label[i]], answersOf(classes)[answer]]);
  return [[...header, "given", "label"], ...lines];
}

/** The columns of the table of suspects: title, kind, and the value at a point; a person can give another label. */
function tableColumns(data, corrected = new Map()) {
  const { points, classes } = data;
  const label = (codes) => (i) => (codes[i] < 0 ? "–" : classes[codes[i]]);
  const percent = (values) => (i) => (values[i] < 0 ? "" : values[i] / 10);
  const columns = [
    { title: "#", number: true, at: (i) => points.rank[i] },
    { title: data.unit, number: true, picture: Boolean(points.pictures), at: (i) => points.row[i] },
    { title: "given", at: label(points.label) },
    { title: "suggested", at: label(points.suggested) },
  ];
  if (points.rank.some((rank, i) => rank > 0 && wrongAt(points, i) >= 0)) columns.push({ title: "wrong %", number: true, means: "the probability that the label is wrong", at: percent(points.wrong) });
  if (points.watched ?? true) columns.push({ title: "confidence %", number: true, means: "the probability of the label, averaged over the training", at: percent(points.confidence) });
  columns.splice(4, 0, { title: "corrected", choice: true, at: (i) => (corrected.has(i) ? answersOf(classes)[corrected.get(i)] : "") });
  if (points.id.length) columns.splice(2, 0, { title: points.id_names.join(" · "), at: (i) => points.id[i] });
  if (points.unseen.some((v) => v >= 0)) columns.push({ title: "unseen %", number: true, means: "the probability that models which had not seen it gave the label", at: percent(points.unseen) });
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

/** The number of a cell; of a limit such as <5, the limit. */
const numberIn = (shown) => Number(String(shown).replace(/^[<>≤≥]=?/, ""));

/** Sorted positions; numbers by value, texts by the alphabet, what is missing last. */
function sortRows(positions, column, descending) {
  const isMissing = (v) => v === "" || v === "–" || v === undefined || Number.isNaN(v);
  const read = (i) => (column.number && column.at(i) !== "" ? numberIn(column.at(i)) : column.at(i));
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

if (typeof module !== "undefined") module.exports = { decodeBytes, groupOf, percentOf, tenthOf, cut, reasonOf, wrongAt, worthOf, nameOf, wordsOf, suspectsOf, answersOf, correctionsOf, tableColumns, filterRows, sortRows, defused, toCsv, nearest, neighbor };
