"use strict";
// The review: a line of rows, a place in it, and what the keys do.

const AHEAD = 3; // cards asked for before they are needed
const KEPT = 40; // cards

const app = {
  about: null, // what is the same for all rows
  line: { kind: "suspects", rows: [], status: [] },
  at: 0,
  cards: new Map(), // row: promise of its card
  progress: null,
  note: "",
  busy: false,
};

const isOpen = (status) => status === "open";
const rowAt = () => app.line.rows[app.at];

/** A row's card; asked for once. */
function cardOf(row) {
  if (!app.cards.has(row)) {
    const card = ask("card", { row });
    card.catch(() => app.cards.delete(row));
    app.cards.set(row, card);
    if (app.cards.size > KEPT) app.cards.delete(app.cards.keys().next().value);
  }
  return app.cards.get(row);
}

async function show() {
  const row = rowAt();
  drawPlace();
  if (row === undefined) return drawEnd();
  const card = await cardOf(row);
  if (row !== rowAt()) return; // somebody was faster
  const folded = !byId("rest")?.open;
  byId("card").replaceChildren(drawCard(app.about, card));
  document.querySelector("main").scrollTop = 0;
  if (byId("rest") && !folded) byId("rest").open = true;
  byId("keep").disabled = !card.label;
  offerSuggested(card.label?.suggested ?? -1);
  for (const button of byId("answers").querySelectorAll("button")) {
    const code = Number(button.dataset.code);
    button.classList.toggle("is-given", card.label?.given === code);
    button.classList.toggle("is-suggested", card.label?.suggested === code);
    button.setAttribute("aria-pressed", String(card.answer === app.about.classes[code]));
  }
  byId("answers").querySelector(card.label?.suggested >= 0 ? ".is-suggested:not([hidden])" : ".is-given")?.scrollIntoView({ block: "nearest" });
  for (const ahead of app.line.rows.slice(app.at + 1, app.at + 1 + AHEAD)) cardOf(ahead);
}

/** A button for the suggested class, where it is none of those with a key. */
function offerSuggested(code) {
  const button = byId("other");
  if (!button) return;
  button.hidden = code < 0 || Object.values(app.about.class_keys).includes(code);
  button.dataset.code = code;
  button.lastChild.textContent = button.title = app.about.classes[code] ?? "";
}

function drawPlace() {
  const n = app.line.rows.length;
  byId("place").textContent = n ? `${(app.at + 1).toLocaleString("en")} of ${n.toLocaleString("en")}` : "";
  byId("back").disabled = app.at === 0;
  byId("next").disabled = app.at >= n - 1;
}

function drawProgress() {
  const { looked, left, wrong, next } = app.progress;
  const count = (n) => n.toLocaleString("en");
  const parts = [`${count(looked)} looked at`, `${count(left)} left`, `${count(wrong)} wrong so far`];
  if (next.n && next.worth !== null) parts.push(`about ${count(Math.round(next.worth))} of the next ${next.n} ${Math.round(next.worth) === 1 ? "is" : "are"} wrong`);
  byId("progress").textContent = `${parts.join(" · ")}.`;
  byId("track").style.width = `${(100 * looked) / Math.max(looked + left, 1)}%`;
}

/** Nothing is left in this line. */
async function drawEnd() {
  const divided = app.line.kind === "disagreements";
  const box = make("div", { class: "end" }, make("h2", {}, divided ? "No disagreement is left for you" : "There is nothing to look at"));
  if (divided) {
    const button = make("button", { type: "button" }, "Back to the suspects");
    button.addEventListener("click", () => takeLine("suspects"));
    box.append(button);
  }
  byId("card").replaceChildren(box);
  for (const id of ["keep", "none", "skip"]) byId(id).disabled = true;
}

function say(words, alert = false) {
  byId("said").textContent = alert ? "" : words;
  byId("alert").textContent = alert ? words : "";
  byId("alert").hidden = !alert;
}

/** Write a decision down; the next row is shown when the server has it on disk. */
async function decide(action, label) {
  const row = rowAt();
  if (row === undefined || app.busy) return;
  if (action === "keep" && byId("keep").disabled) return say("The given label is hidden; choose a class.");
  app.busy = true;
  const at = app.at;
  try {
    const answer = await tell("decide", { row, action, ...(label === undefined ? {} : { label }), note: app.note });
    app.note = "";
    byId("note").classList.remove("is-set");
    app.cards.delete(row);
    app.line.status[at] = answer.status;
    app.progress = answer.progress;
    drawProgress();
    say(wordsFor(row, action, label, answer));
    if (answer.progress.left === 0 && app.line.kind === "suspects" && action !== "skip") openResults();
    walkOn(at);
  } catch (error) {
    say(error.message, true);
  } finally {
    app.busy = false;
    byId("card").focus({ preventScroll: true });
  }
}

/** What was said; where it was blinded, also what had been hidden. */
function wordsFor(row, action, label, answer) {
  const { classes, unit, blinded } = app.about;
  const words = { keep: "kept", skip: "skipped", unlabeled: "no class fits", label: label }[action];
  const hidden = blinded && answer.label ? `. It was given as ${classes[answer.label.given]}${answer.label.suggested >= 0 ? `, and ${classes[answer.label.suggested]} was suggested` : ""}` : "";
  return `${unit[0].toUpperCase()}${unit.slice(1)} ${row.toLocaleString("en")}: ${words}${hidden}.`;
}

/** To the next row that is open, from here to the end and then from the start; after those, to what was skipped. */
function walkOn(from) {
  const { status } = app.line;
  const wanted = [isOpen, (s) => s === "skip"];
  for (const fits of wanted) {
    for (let k = 1; k <= status.length; k++) {
      const at = (from + k) % status.length;
      if (fits(status[at]) && at !== from) return go(at);
    }
  }
  go(from);
}

function go(at) {
  app.at = Math.max(0, Math.min(at, app.line.rows.length - 1));
  return show();
}

async function undo() {
  if (app.busy) return;
  app.busy = true;
  try {
    const answer = await tell("undo", {});
    if (answer.row === null) return say("There is nothing to undo.");
    app.progress = answer.progress;
    app.cards.delete(answer.row);
    drawProgress();
    let at = app.line.rows.indexOf(answer.row);
    if (at < 0) {
      await takeLine(app.line.kind, true);
      at = Math.max(0, app.line.rows.indexOf(answer.row));
    }
    app.line.status[at] = answer.status;
    say(`The last answer for ${app.about.unit} ${answer.row.toLocaleString("en")} is undone.`);
    await go(at);
  } catch (error) {
    say(error.message, true);
  } finally {
    app.busy = false;
    byId("card").focus({ preventScroll: true });
  }
}

/** Take another line: the suspects, or what others are divided on. */
async function takeLine(kind, stay = false) {
  app.line = await ask("line", { kind });
  app.cards.clear();
  for (const id of ["keep", "none", "skip"]) byId(id).disabled = false;
  if (!stay) {
    const first = app.line.status.findIndex(isOpen);
    await go(first < 0 ? 0 : first);
  }
}

function drawAnswers() {
  const { classes, class_keys: keys } = app.about;
  const buttons = Object.entries(keys).map(([key, code]) => {
    const button = make("button", { type: "button", "data-code": code, title: classes[code] }, make("kbd", {}, key), " ", make("span", {}, classes[code]));
    button.addEventListener("click", () => decide("label", classes[code]));
    return button;
  });
  if (classes.length > buttons.length) {
    const all = make("select", { id: "all", "aria-label": "All classes" }, make("option", { value: "" }, "all classes (L)"), ...classes.map((c, k) => make("option", { value: k }, c)));
    all.addEventListener("change", () => {
      const code = all.value;
      all.value = "";
      if (code !== "") decide("label", classes[Number(code)]);
    });
    const other = make("button", { type: "button", id: "other", hidden: "" }, make("kbd", {}, "A"), " ", make("span"));
    other.addEventListener("click", () => decide("label", classes[Number(other.dataset.code)]));
    buttons.unshift(other);
    buttons.push(all);
  }
  byId("answers").replaceChildren(...buttons);
}

/** Open the results, and keep them fresh while a training runs. */
async function openResults() {
  if (!byId("results").open) byId("results").showModal();
  const draw = async () => {
    const progress = await ask("progress");
    app.progress = progress;
    drawProgress();
    byId("estimates").replaceChildren(...estimatesOf(progress, app.about.unit));
    const settle = () => (byId("results").close(), takeLine("disagreements"));
    byId("agreement").replaceChildren(...agreementOf(progress.agreement, progress.disagreements, settle));
  };
  await draw().catch((error) => say(error.message, true));
  const buttons = app.about.exports.map(({ name, title }) => {
    const button = make("button", { type: "button", "data-export": name }, title);
    button.addEventListener("click", () => download(name).catch((error) => say(error.message, true)));
    return button;
  });
  byId("exports").replaceChildren(...buttons);
  followTraining();
}

async function followTraining() {
  const draw = (state) => byId("training").replaceChildren(...trainingOf(state, app.about.can_train, start, stop));
  const failed = (error) => draw({ state: "failed", error: error.message });
  const start = () => ask("train").then(followTraining, failed);
  const stop = () => ask("stop").catch(failed);
  if (!app.about.can_train) return draw({ state: "idle" });
  const state = await ask("training").catch((error) => ({ state: "failed", error: error.message }));
  draw(state);
  if (state.state === "running" && byId("results").open) setTimeout(followTraining, 1000);
}

let finding = 0;
async function find() {
  const [number, text] = [++finding, byId("find-text").value];
  const { found } = await ask("find", { text, kind: app.line.kind });
  if (number !== finding) return;
  const items = found.map(({ row, name, open }) => {
    const button = make("button", { type: "button" }, name, make("span", { class: "fine" }, open ? "" : " looked at"));
    button.addEventListener("click", () => (byId("find").close(), go(app.line.rows.indexOf(row))));
    return make("li", {}, button);
  });
  byId("found").replaceChildren(...(items.length || !text.trim() ? items : [make("li", { class: "fine" }, "No row contains all of these words.")]));
}

const KEY_ACTIONS = {
  Enter: () => decide("keep"),
  x: () => decide("unlabeled"),
  s: () => decide("skip"),
  u: undo,
  j: () => go(app.at + 1),
  k: () => go(app.at - 1),
  ArrowRight: () => go(app.at + 1),
  ArrowLeft: () => go(app.at - 1),
  n: () => openNote(),
  a: () => document.querySelector("#other:not([hidden])")?.click(),
  l: () => byId("all")?.focus(),
  f: () => openColumns(),
  r: openResults,
  "/": () => openFind(),
  "?": () => byId("help").showModal(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || event.repeat) return;
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (typing && event.key === "Escape") event.target.blur();
  if (typing || (event.key === "Enter" && /^(BUTTON|A|SUMMARY)$/.test(event.target.tagName))) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const code = app.about.class_keys[key];
  const action = code === undefined ? KEY_ACTIONS[key] : () => decide("label", app.about.classes[code]);
  if (!action) return;
  event.preventDefault();
  action();
}

function openFind() {
  byId("find").showModal();
  byId("find-text").select();
}

function openColumns() {
  const rest = byId("rest");
  if (!rest) return;
  rest.open = true;
  byId("columns").focus();
}

function openNote() {
  byId("note-text").value = app.note;
  byId("noting").showModal();
}

function wire() {
  document.addEventListener("keydown", onKey);
  const clicks = { keep: () => decide("keep"), none: () => decide("unlabeled"), skip: () => decide("skip"), undo, note: openNote, back: () => go(app.at - 1), next: () => go(app.at + 1), "open-find": openFind, "open-results": openResults, "open-help": () => byId("help").showModal(), theme: switchTheme, rename: () => (byId("help").close(), askName()), invite };
  for (const [id, action] of Object.entries(clicks)) byId(id).addEventListener("click", action);
  let pause = 0;
  byId("find-text").addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => find().catch((error) => say(error.message, true)), 120);
  });
  byId("find-text").addEventListener("keydown", (event) => {
    if (event.key === "Enter") byId("found").querySelector("button")?.click();
    if (event.key === "Escape") byId("find").close(); // the first Escape would only empty the field
  });
  byId("noting-form").addEventListener("submit", (event) => {
    event.preventDefault();
    app.note = byId("note-text").value;
    byId("note").classList.toggle("is-set", app.note !== "");
    byId("noting").close();
    byId("card").focus({ preventScroll: true });
  });
}

function switchTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
}

async function invite() {
  const { address } = await ask("invite");
  byId("invitation").hidden = false;
  byId("invitation").textContent = `Works for one browser: ${address}`;
}

function askName() {
  byId("naming").showModal();
  byId("naming").addEventListener("cancel", (event) => event.preventDefault());
  byId("naming-form").onsubmit = async (event) => {
    event.preventDefault();
    await ask("name", { name: byId("name").value });
    byId("naming").close();
    begin();
  };
}

async function begin() {
  try {
    app.about = await ask("start");
  } catch (error) {
    if (error.answer?.needs_name) return askName();
    return say(error.message, true);
  }
  document.title = `${app.about.title} · dips review`;
  byId("title").textContent = app.about.title;
  document.body.classList.toggle("blinded", app.about.blinded);
  fillHelp(app.about);
  drawAnswers();
  app.progress = await ask("progress");
  drawProgress();
  await takeLine("suspects");
  document.body.dataset.ready = "yes";
}

wire();
enter().then(begin, (error) => say(error.message, true));
