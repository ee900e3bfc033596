"use strict";
// The map of labels, on a canvas.

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
    const watched = this.points.watched ?? true;
    pen.fillText(watched ? "uncertainty: how undecided the model was" : "uncertainty of models that had not seen it", (left + right) / 2, bottom + 34);
    pen.save();
    pen.translate(12, (top + bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(watched ? "confidence in the label, over the training" : "probability that the label is right", 0, 0);
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
      const lines = [nameOf(this.data, i), `label ${classes[points.label[i]]}`];
      if (points.suggested[i] >= 0) lines.push(`suggested ${classes[points.suggested[i]]}`);
      tip.replaceChildren(...(points.pictures ? [picture(this.data, points.pictures[i], "", "small")] : []), lines.join("\n"));
      const [right, left] = [this.xs[i] + 12, this.xs[i] - 12 - tip.offsetWidth];
      tip.style.left = `${right + tip.offsetWidth <= this.box.width ? right : Math.max(left, 0)}px`; // beside the dot, not on it
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
