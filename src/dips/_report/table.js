"use strict";
// The table of suspects.

/** The table of suspects. */
class SuspectTable {
  constructor(data, detail, onOpen) {
    this.data = data;
    this.detail = detail;
    this.onOpen = onOpen;
    this.all = suspectsOf(data.points);
    this.corrected = new Map(); // position: number of the answer
    this.isSaved = true;
    this.columns = tableColumns(data, this.corrected);
    this.shown = this.columns.filter((c) => !c.fromData).concat(this.columns.filter((c) => c.fromData).slice(0, 3));
    [this.sortBy, this.descending, this.page, this.open] = [0, false, 0, -1];
    this.filters();
    this.head();
    this.update();
    byId("back").addEventListener("click", () => this.turn(-1));
    byId("next").addEventListener("click", () => this.turn(1));
    byId("export").addEventListener("click", () => this.save());
    byId("corrections").addEventListener("click", () => this.download("corrections.csv", correctionsOf(this.data, this.corrected)));
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
      const button = make("button", { type: "button", title: column.means ?? column.title }, cut(column.title, 24));
      button.addEventListener("click", () => {
        [this.descending, this.sortBy, this.page, this.open] = [this.sortBy === j ? !this.descending : false, j, 0, -1];
        this.update();
      });
      row.append(make("th", { scope: "col", class: column.number ? "num" : "" }, button));
    });
    byId("table").tHead.append(row);
    const meanings = this.shown.filter((c) => c.means).map((c) => `${c.title}: ${c.means}`);
    byId("meanings").textContent = meanings.length ? `${meanings.join("; ")}.` : "";
    byId("suspects").classList.toggle("none", !this.all.length);
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
    const worth = worthOf(this.data.points, this.found.slice(start, start + PAGE));
    byId("page").textContent = n ? `${start + 1}–${Math.min(start + PAGE, n)} of ${n.toLocaleString("en")}${worth}` : "";
    byId("back").disabled = this.page === 0;
    byId("next").disabled = start + PAGE >= n;
  }

  row(i) {
    const cells = this.shown.map((column) => this.cell(column, i));
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

  cell(column, i) {
    const cell = make("td", { class: column.number ? "num" : "" });
    const { pictures, id } = this.data.points;
    if (column.picture) cell.append(picture(this.data, pictures[i], wordsOf(this.data, i), "small"));
    if (column.choice) cell.append(this.choice(i));
    else if (!column.picture || !id.length) cell.append(column.means && column.at(i) !== "" ? tenthOf(column.at(i)) : column.at(i)); // a name says more than a number
    return cell;
  }

  /** Where a person says what the label should be; the row is not opened by it. */
  choice(i) {
    const options = ["–", ...answersOf(this.data.classes)].map((text, k) => make("option", { value: k - 1 }, text));
    const select = make("select", { "aria-label": `corrected label of ${nameOf(this.data, i)}` }, ...options);
    select.value = this.corrected.get(i) ?? -1;
    for (const kind of ["click", "keydown"]) select.addEventListener(kind, (event) => event.stopPropagation());
    select.addEventListener("change", () => {
      if (select.value < 0) this.corrected.delete(i);
      else this.corrected.set(i, Number(select.value));
      this.isSaved = !this.corrected.size;
      byId("corrections").disabled = !this.corrected.size;
    });
    return select;
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
    const listed = [...new Set([...this.found, ...this.corrected.keys()])]; // nothing corrected is lost to a filter
    const rows = listed.map((i) => [...this.columns.map((c) => c.at(i)), reasonOf(this.data, i)]);
    this.download("suspects.csv", [header, ...rows]);
  }

  download(name, rows) {
    const url = URL.createObjectURL(new Blob(["\ufeff", toCsv(rows)], { type: "text/csv" }));
    const link = make("a", { href: url, download: name });
    link.click();
    URL.revokeObjectURL(url);
    this.isSaved = true;
  }
}
