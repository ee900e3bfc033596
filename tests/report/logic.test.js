// What the page computes, without a page: node --test tests/report/logic.test.js
"use strict";
const assert = require("node:assert/strict");
const test = require("node:test");
const logic = require("../../src/dips/_report/logic.js");

const data = {
  unit: "row",
  classes: ["ill", "well"],
  phrases: {
    learned: ["hardly believed ({} %)", "doubted ({} %)", "only once told ({} %)"],
    unseen: "others gave '{label}' {} %",
    other: "'{label}' fits better",
    no_other: "nothing fits better",
  },
  points: {
    row: [7, 3, 9, 4],
    id: ["P7", "P3", "P9", "P4"],
    id_names: ["patient"],
    confidence: [120, 900, 300, 800],
    unseen: [50, 970, -1, 500],
    label: [0, 1, 1, 0],
    suggested: [1, -1, -1, -1],
    useful: [0, 1, 0, 1],
    round: [0, 0, 0, 2],
    rank: [2, 0, 1, 0],
    learned: [0, 2, 1, 2],
    values: [
      { name: "age", kind: "number", distinct: ["80", "9", ""], codes: [0, 1, 2, 1] },
      { name: "ward", kind: "category", distinct: ["<b>north</b>", "=cmd"], codes: [0, 1, 1, 0] },
    ],
  },
};
const all = [0, 1, 2, 3];
const column = (title) => logic.tableColumns(data).find((c) => c.title === title);

test("bytes come back from base64", () => {
  assert.deepEqual([...logic.decodeBytes("AP+A")], [0, 255, 128]);
});

test("suspects come in the order of their rank", () => {
  assert.deepEqual(logic.suspectsOf(data.points), [2, 0]);
});

test("a point is useful, suspect, or a pseudo-label", () => {
  assert.deepEqual(all.map((i) => logic.groupOf(data.points, i)), [0, 0, 0, 2].map((g, i) => ([0, 2].includes(i) ? 1 : g)));
});

test("a reason is put together from the phrases", () => {
  assert.equal(logic.reasonOf(data, 0), "hardly believed (12 %); others gave 'ill' 5 %; 'well' fits better");
  assert.equal(logic.reasonOf(data, 2), "doubted (30 %); nothing fits better");
});

test("what models do not tell is said first", () => {
  const twin = { ...data, points: { ...data.points, said_first: { 2: "row 7 is identical" } } };
  assert.equal(logic.reasonOf(twin, 2), "row 7 is identical; doubted (30 %); nothing fits better");
  assert.equal(logic.reasonOf(twin, 0), logic.reasonOf(data, 0));
});

const believed = {
  ...data,
  phrases: { ...data.phrases, wrong: "wrong with {} %", if_wrong: "if wrong, '{label}'" },
  points: { ...data.points, wrong: [930, 20, 400, -1], suggested: [1, -1, 0, -1] },
};

test("where it is believed to be wrong, a reason says how probably", () => {
  assert.equal(logic.reasonOf(believed, 0), "wrong with 93 %; others gave 'ill' 5 %; 'well' fits better");
  assert.equal(logic.reasonOf(believed, 2), "wrong with 40 %; if wrong, 'ill'");
});

test("a page of suspects is worth the wrong labels expected on it", () => {
  assert.equal(logic.worthOf(believed.points, [0, 2]), ", about 1 of these wrong");
  assert.equal(logic.worthOf(believed.points, [0, 3]), "");
  assert.equal(logic.worthOf(data.points, [0, 2]), "");
});

test("the probability to be wrong is a column where it is known", () => {
  const titles = (d) => logic.tableColumns(d).map((c) => c.title);
  assert.ok(titles(believed).includes("wrong %"));
  assert.ok(!titles(data).includes("wrong %"));
  assert.ok(!titles({ ...believed, points: { ...believed.points, watched: false } }).includes("confidence %"));
});

test("a label that looks like a replacement pattern stays as it is", () => {
  const odd = { ...data, classes: ["ill", "$& $1 {}"] };
  assert.match(logic.reasonOf(odd, 0), /'\$& \$1 \{\}' fits better$/);
});

test("numbers are sorted as numbers, what is missing last", () => {
  assert.deepEqual(logic.sortRows(all, column("age"), false), [1, 3, 0, 2]);
  assert.deepEqual(logic.sortRows(all, column("age"), true), [0, 1, 3, 2]);
  const limits = { number: true, at: (i) => ["12", "<5", ">200", "7"][i] };
  assert.deepEqual(logic.sortRows(all, limits, false), [1, 3, 0, 2]);
});

test("texts are sorted by the alphabet", () => {
  assert.deepEqual(logic.sortRows(all, column("given"), false), [0, 3, 1, 2]);
});

test("a search must find every word somewhere in the row", () => {
  assert.deepEqual(logic.filterRows(data, all, { text: "north 80" }), [0]);
  assert.deepEqual(logic.filterRows(data, all, { text: "P9" }), [2]);
  assert.deepEqual(logic.filterRows(data, all, { text: "nowhere" }), []);
});

test("rows are filtered by given and by suggested label", () => {
  assert.deepEqual(logic.filterRows(data, all, { given: 0 }), [0, 3]);
  assert.deepEqual(logic.filterRows(data, all, { instead: 1 }), [0]);
  assert.deepEqual(logic.filterRows(data, all, { instead: -1 }), [1, 2, 3]);
});

test("the table has a column for the id, and for out-of-fold confidence only if it is known", () => {
  assert.ok(column("patient"));
  assert.ok(column("unseen %"));
  const silent = { ...data, points: { ...data.points, id: [], unseen: [-1, -1, -1, -1] } };
  const titles = logic.tableColumns(silent).map((c) => c.title);
  assert.ok(!titles.includes("patient") && !titles.includes("unseen %"));
});

test("an image is said in words, and can be given another label", () => {
  const corrected = new Map([[0, 1]]);
  const images = { ...data, unit: "image", points: { ...data.points, pictures: ["", "", "", ""], values: [] } };
  assert.equal(logic.wordsOf(images, 0), "image 7 · P7: label ill, suggested well");
  assert.equal(logic.wordsOf(images, 1), "image 3 · P3: label well");
  const columns = logic.tableColumns(images, corrected);
  assert.deepEqual(columns.map((c) => c.title), ["#", "image", "patient", "given", "suggested", "corrected", "confidence %", "unseen %"]);
  assert.deepEqual(all.map(columns[5].at), ["well", "", "", ""]);
});

test("so can rows of a table", () => {
  assert.ok(column("corrected").choice);
  assert.deepEqual(logic.answersOf(["ill", "well"]), ["ill", "well", "keep", "unlabeled"]);
  assert.deepEqual(logic.answersOf(["keep", "drop"]), ["keep", "drop", "unlabeled"]);
});

test("corrections are saved by row and by key, in the words that are read back", () => {
  const lines = logic.correctionsOf(data, new Map([[0, 1], [1, 2], [2, 3]]));
  assert.deepEqual(lines, [["row", "patient", "given", "label"], [7, "P7", "ill", "well"], [3, "P3", "well", "keep"], [9, "P9", "well", "unlabeled"]]);
  const cut = { ...data, points: { ...data.points, id: ["P7…", "P3", "P9", "P1"] } };
  assert.deepEqual(logic.correctionsOf(cut, new Map([[0, 1]])), [["row", "given", "label"], [7, "ill", "well"]]);
  const named = { ...data, points: { ...data.points, id_names: ["row"] } };
  assert.deepEqual(logic.correctionsOf(named, new Map([[0, 1]])), [["row", "row (input)", "given", "label"], [7, "P7", "ill", "well"]]);
});

test("cells that begin as a formula are defused, numbers are not", () => {
  assert.deepEqual(["=1+1", "+x", "-x", "@x", "\tx", "-5", "+1.5", "x=1", ""].map(logic.defused), ["'=1+1", "'+x", "'-x", "'@x", "'\tx", "-5", "+1.5", "x=1", ""]);
});

test("cells with commas, quotes and line breaks are quoted", () => {
  assert.equal(logic.toCsv([["a,b", 'say "x"', "l1\nl2"], [1, "=A1", ""]]), '"a,b","say ""x""","l1\nl2"\n1,\'=A1,\n');
});

test("the nearest visible point is found, if near enough", () => {
  const [xs, ys] = [[0, 10, 20], [0, 0, 0]];
  assert.equal(logic.nearest(xs, ys, () => true, 12, 0, 5), 1);
  assert.equal(logic.nearest(xs, ys, (i) => i !== 1, 12, 0, 5), -1);
  assert.equal(logic.nearest(xs, ys, (i) => i !== 1, 12, 0, 9), 2);
});

test("arrow keys lead to the next point in their direction", () => {
  const [xs, ys] = [[0, 10, 0, -10], [0, 1, 10, 0]];
  assert.equal(logic.neighbor(xs, ys, () => true, 0, 1, 0), 1);
  assert.equal(logic.neighbor(xs, ys, () => true, 0, 0, 1), 2);
  assert.equal(logic.neighbor(xs, ys, () => true, 0, -1, 0), 3);
  assert.equal(logic.neighbor(xs, ys, () => true, 0, 0, -1), 0);
});

const { cheapest, costAt, lineInWords } = require("../../src/dips/_report/thresholds.js");
const thresholds = {
  n_positive: 5,
  n_rest: 20,
  rows: [
    { threshold: 0.1, found: 5, missed: 0, alarms: 12 },
    { threshold: 0.4, found: 4, missed: 1, alarms: 4 },
    { threshold: 0.5, found: 3, missed: 2, alarms: 3 },
    { threshold: 0.9, found: 0, missed: 5, alarms: 0 },
  ],
};

test("the cheapest threshold follows the costs, and is the nearest to one half where several are", () => {
  assert.equal(cheapest(thresholds.rows, 1, 1), 2);
  assert.equal(cheapest(thresholds.rows, 20, 1), 0);
  assert.equal(cheapest(thresholds.rows, 1, 20), 3);
  assert.equal(costAt(thresholds.rows[1], 3, 2), 11);
});

test("a threshold is said in words", () => {
  const words = lineInWords(thresholds.rows[1], thresholds, "ill", 3, 2);
  assert.equal(words, "At 0.4 it finds 4 of 5 rows labeled ill, misses 1, and raises 4 false alarms among 20 others: cost 11.");
});

test("one false alarm is not several", () => {
  const row = { threshold: 0.5, found: 4, missed: 1, alarms: 1 };
  assert.match(lineInWords(row, thresholds, "ill", 3, 2), / raises 1 false alarm among /);
});

test("no probability is said to be certain", () => {
  assert.deepEqual([1000, 996, 995, 994, 455, 5, 4, 0].map(logic.percentOf), ["over 99", "over 99", "over 99", "99", "46", "1", "under 1", "under 1"]);
  assert.deepEqual([100, 99.9, 45.5, 0.1, 0].map(logic.tenthOf), [">99.9", "99.9", "45.5", "0.1", "<0.1"]);
});
