"use strict";
// Where to draw the line: what a threshold costs, as the reader prices errors.

/** What the errors at a threshold cost. */
function costAt(row, missed, alarm) {
  return row.missed * missed + row.alarms * alarm;
}

/** Position of the cheapest threshold; of equal ones, that nearest to one half. */
function cheapest(rows, missed, alarm) {
  const price = (i) => [costAt(rows[i], missed, alarm), Math.abs(rows[i].threshold - 0.5)];
  let best = 0;
  for (let i = 1; i < rows.length; i++) {
    const [a, b] = [price(i), price(best)];
    if (a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])) best = i;
  }
  return best;
}

/** A threshold in words. */
function lineInWords(row, thresholds, name, missed, alarm) {
  const n = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });
  const { n_positive, n_rest } = thresholds;
  const found = `finds ${n(row.found)} of ${n(n_positive)} rows labeled ${name}, misses ${n(row.missed)}`;
  return `At ${row.threshold} it ${found}, and raises ${n(row.alarms)} false alarm${row.alarms === 1 ? "" : "s"} among ${n(n_rest)} others: cost ${n(costAt(row, missed, alarm))}.`;
}

/** Lets the reader price errors and move the line in a part of the page; it starts at the cheapest. */
function drawLine(part, thresholds, name) {
  const [missed, alarm, level, line] = [".cost-missed", ".cost-alarm", ".threshold", ".in-words"].map((css) => part.querySelector(css));
  const price = () => [missed, alarm].map((input) => Math.max(Number(input.value) || 0, 0));
  const show = () => {
    const costs = price();
    const [row, best] = [thresholds.rows[level.value], thresholds.rows[cheapest(thresholds.rows, ...costs)]];
    const cheaper = row === best ? " No other threshold is cheaper on these rows." : ` The cheapest is ${best.threshold}.`;
    line.textContent = lineInWords(row, thresholds, name, ...costs) + cheaper;
    for (const shown of part.querySelectorAll(".thresholds tbody tr")) {
      const at = thresholds.rows.find((r) => r.threshold === Number(shown.dataset.level));
      shown.lastElementChild.textContent = costAt(at, ...costs).toLocaleString("en", { maximumFractionDigits: 2 });
    }
  };
  const reset = () => {
    level.value = cheapest(thresholds.rows, ...price());
    show();
  };
  for (const input of [missed, alarm]) input.addEventListener("input", reset);
  level.addEventListener("input", show);
  reset();
}

if (typeof module !== "undefined") module.exports = { costAt, cheapest, lineInWords };
