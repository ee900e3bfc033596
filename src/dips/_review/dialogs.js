"use strict";
// What opens over the row: help, search, results, names and notes.

const KEYS = [
  ["1–9", "the class with this key"],
  ["Enter", "the given label is right"],
  ["X", "no class fits: take the label away"],
  ["A", "the suggested class, where it has no key"],
  ["L", "choose from all classes"],
  ["S", "skip: it comes back at the end"],
  ["U", "undo the last decision"],
  ["N", "write a note"],
  ["J K", "next, back"],
  ["/", "find a row"],
  ["F", "search the columns"],
  ["R", "results, train again, save"],
  ["?", "this help"],
];

function fillHelp(about) {
  byId("keys").replaceChildren(...KEYS.flatMap(([key, words]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)]));
  const mode = about.blinded ? " The review is blinded: labels and suggestions are hidden until you have answered." : "";
  byId("who").textContent = `You are ${about.reviewer}.${mode}`;
}

const between = (e, digits = 0) => `${(100 * e.low).toFixed(digits)} to ${(100 * e.high).toFixed(digits)} %`;
const countOfLabels = (n) => `${n.toLocaleString("en")} label${n === 1 ? "" : "s"}`;

/** The estimates in sentences. */
function estimatesOf(progress, unit) {
  const { suspects, checks, precision, missed, truth } = progress;
  const lines = [];
  if (truth) {
    const all = truth.found === truth.wrong ? "all" : truth.found.toLocaleString("en");
    lines.push(make("p", { class: "truth" }, make("b", {}, `You found ${all} of the ${truth.wrong.toLocaleString("en")} wrong labels`), ` in ${truth.looked.toLocaleString("en")} looks; ${truth.right.toLocaleString("en")} of your answers are right.`));
  }
  if (!precision) lines.push(make("p", {}, "Look at some suspects first."));
  else lines.push(make("p", {}, make("b", {}, `${suspects.wrong} of ${suspects.looked} suspects`), ` you looked at are wrong: ${percent(precision.value)} (${between(precision)}). There are ${suspects.n.toLocaleString("en")} suspects.`));
  if (!missed) lines.push(make("p", {}, `You have not looked at an unsuspected ${unit} yet; about one in eight is one.`));
  else lines.push(make("p", {}, make("b", {}, `${checks.wrong} of ${checks.looked} unsuspected labels`), ` are wrong. So of all ${checks.n.toLocaleString("en")} that are not suspects, about ${Math.round(missed.value).toLocaleString("en")} are wrong (${Math.floor(missed.low).toLocaleString("en")} to ${Math.ceil(missed.high).toLocaleString("en")}).`));
  lines.push(make("p", { class: "fine" }, "95 % intervals. Suspects are looked at in order, the most suspicious first, so those further down are wrong less often."));
  return lines;
}

function agreementOf(agreement, n, begin) {
  const lines = agreement.pairs.map((pair) => {
    const kappa = pair.kappa ? `Cohen's kappa ${pair.kappa.value.toFixed(2)} (${pair.kappa.low.toFixed(2)} to ${pair.kappa.high.toFixed(2)})` : "kappa cannot be computed: all answers are the same";
    return make("p", {}, make("b", {}, pair.reviewers.join(" and ")), `: the same answer for ${pair.same} of ${pair.n}; ${kappa}.`);
  });
  if (!lines.length) lines.push(make("p", { class: "fine" }, "Nobody else has looked at your rows yet. Another reviewer gets the same rows in the same order and sees no answers."));
  if (agreement.divided) {
    const button = make("button", { type: "button", id: "settle" }, `Settle ${n} of them`);
    button.addEventListener("click", begin);
    const who = n ? [" ", button] : [" A third person can settle them."];
    lines.push(make("p", {}, `Reviewers are divided on ${countOfLabels(agreement.divided)}.`, ...who));
  }
  return lines;
}

/** The button, the progress or the outcome of training again. */
function trainingOf(state, canTrain, start, stop) {
  if (!canTrain) return [make("p", { class: "fine" }, "The table of this run is not available here. Save the corrections and use dips fit --corrections.")];
  const button = make("button", { type: "button", id: "train" }, state.state === "done" ? "Train again" : "Train again with these decisions");
  button.addEventListener("click", start);
  if (state.state === "running") {
    const bar = make("progress", { max: 1, value: state.fraction, "aria-label": "Training" });
    const end = make("button", { type: "button" }, "Stop");
    end.addEventListener("click", stop);
    return [make("p", {}, bar, ` ${state.stage} `, end)];
  }
  if (state.state === "failed") return [make("p", { class: "alert" }, "The training failed:"), make("pre", {}, state.error), button];
  if (state.state === "done") {
    const link = make("a", { href: "/comparison", target: "_blank", rel: "noopener" }, "See what has changed");
    return [make("p", {}, link, ` The new run is in ${state.made}.`), button];
  }
  return [make("p", { class: "fine" }, "Runs dips fit with the decisions made so far, writes a new run beside this one, and compares the two."), button];
}
