// When did each field become usable? A bar for each: thin until it is first seen, light while it grows, solid where it
// is complete; and a line for now, behind which everything is still to come.

import { byId, bytes, element, number, seconds, setAttribute, setText } from "./dom.js";
import { RowList } from "./rowlist.js";
import { hideTip, showTip } from "./tip.js";
import { setVisible, visible } from "./visible.js";

const LANE = 0.58; // of the width is for the bars
const CHARACTER = 7; // px

const percent = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;

export class WaterfallPanel {
  #bars = [];
  #axis = { unit: "seconds", total: 0, ticks: [] };
  #step = 0;
  #leftOut = 0;
  #active = -1;
  #version = 0; // bars are patched in place, so a bar that is the same object may say something else
  chosen = null; // {track, path}
  isFollowing = true; // until someone scrolls

  /** `jump(bar)` is called for a clicked bar. */
  constructor({ jump }) {
    this.jump = jump;
    this.scroller = byId("waterfall");
    this.list = new RowList(this.scroller, {
      fill: (index, node) => this.#fill(index, node),
      key: (index) => `${this.#bars[index].track} ${this.#bars[index].path} ${this.#bars[index].folded} ${index}`,
      scrolled: () => (this.isFollowing = false),
      shown: () => this.#align(),
    });
    this.ticks = element("div", "grid ticks");
    this.grid = element("div", "grid");
    this.later = this.grid.appendChild(element("div", "later"));
    this.now = this.grid.appendChild(element("div", "now"));
    this.scroller.prepend(this.ticks);
    this.scroller.append(this.grid);
    this.scroller.addEventListener("click", (event) => this.#onClick(event));
    this.scroller.addEventListener("keydown", (event) => this.#onKey(event));
    this.scroller.addEventListener("pointermove", (event) => this.#onHover(event));
    new ResizeObserver(() => this.#drawAxis()).observe(byId("axis"));
    for (const name of ["pointerleave", "blur", "scroll"]) this.scroller.addEventListener(name, hideTip);
    this.scroller.addEventListener("focus", () => this.#showActive());
  }

  /** The waterfall of the session document. */
  setLayout({ axis, bars, left_out }) {
    this.#bars = bars;
    this.#axis = axis;
    this.#version += 1;
    this.#leftOut = left_out;
    this.#showFact();
    this.#drawAxis();
    this.list.setTotal(bars.length);
    this.list.paint();
  }

  /** Where now is: at this step, which stands on the axis where its time or its number of characters is. */
  setNow({ step, time, characters }) {
    this.#step = step;
    this.setTime(this.isInSeconds ? time : characters);
    this.#showFact();
    if (this.isFollowing) this.#revealNow();
    this.list.later();
  }

  #showFact() {
    const complete = this.#bars.filter((bar) => bar.complete_step !== null && bar.complete_step <= this.#step).length;
    const more = this.#leftOut ? `, ${number(this.#leftOut)} more not shown` : "";
    const words = `${number(complete)} of ${number(this.#bars.length)} complete${more}`;
    setText(byId("waterfall-fact"), this.#bars.length ? words : "");
  }

  // The last row that has begun is where things happen.
  #revealNow() {
    let last = 0;
    this.#bars.forEach((bar, index) => bar.first_step <= this.#step && (last = index));
    if (this.#bars.length) this.list.endAt(last);
  }

  /** Only the line, while time passes and nothing comes. */
  setTime(place) {
    const share = this.#axis.total ? place / this.#axis.total : 0;
    this.now.style.setProperty("left", percent(share));
    this.later.style.setProperty("left", percent(share));
  }

  get isInSeconds() {
    return this.#axis.unit === "seconds";
  }

  #drawAxis() {
    const { unit, ticks } = this.#axis;
    const room = byId("axis").clientWidth * LANE;
    const widest = Math.max(1, ...ticks.map(({ label }) => label.length)) * CHARACTER + CHARACTER;
    const every = Math.max(1, Math.ceil((ticks.length * widest) / Math.max(room, widest))); // labels must not touch
    const marks = [];
    const lines = [];
    for (const [index, { at, label }] of ticks.entries()) {
      const mark = element("span", at > 0.94 ? "tick last" : "tick", index % every ? "" : label);
      const line = element("i");
      mark.style.setProperty("left", percent(at));
      line.style.setProperty("left", percent(at));
      marks.push(mark);
      lines.push(line);
    }
    byId("axis").replaceChildren(element("span", "unit", unit), element("span", "lane", ...marks));
    this.ticks.replaceChildren(...lines);
  }

  #align() {
    const { offsetWidth, clientWidth, clientHeight } = this.scroller;
    byId("axis").style.setProperty("padding-inline-end", `${offsetWidth - clientWidth}px`);
    for (const layer of [this.grid, this.ticks]) layer.style.setProperty("--height", `${clientHeight}px`);
  }

  #fill(index, node) {
    const bar = this.#bars[index];
    if (node.parts === undefined) build(node);
    node.index = index;
    node.id = `bar-${index}`;
    const isComplete = bar.complete_step !== null && bar.complete_step <= this.#step;
    const stage = isComplete ? "complete" : bar.first_step <= this.#step ? "growing" : "later";
    const isChosen = this.chosen !== null && this.chosen.track === bar.track && this.chosen.path === bar.path;
    const className = `row ${stage}${isChosen ? " chosen" : ""}${index === this.#active ? " active" : ""}`;
    if (node.className !== className) node.className = className;
    setAttribute(node, "aria-selected", isChosen);
    if (node.bar === bar && node.version === this.#version) return;
    node.bar = bar;
    node.version = this.#version;
    const { label, wait, grow, done } = node.parts;
    setVisible(label, bar.label);
    label.style.setProperty("padding-inline-start", `${8 + Math.min(bar.depth, 10) * 8}px`);
    label.classList.toggle("is-folded", bar.folded > 1);
    const total = this.#axis.total || 1;
    const end = bar.complete ?? this.#axis.total;
    wait.style.setProperty("width", percent(bar.first / total));
    grow.style.setProperty("left", percent(bar.first / total));
    grow.style.setProperty("width", percent((end - bar.first) / total));
    grow.hidden = end <= bar.first;
    grow.classList.toggle("unfinished", bar.complete === null);
    done.style.setProperty("left", percent(end / total));
    done.hidden = bar.complete === null;
    node.setAttribute("role", "option");
    setAttribute(node, "aria-posinset", index + 1);
    setAttribute(node, "aria-setsize", this.#bars.length);
    node.setAttribute("aria-label", this.facts(bar).map(([name, value]) => `${name} ${value}`).join(", "));
  }

  /** The facts about a bar: names and values. */
  facts(bar) {
    const spelled = this.isInSeconds ? seconds : (value) => `${number(value)} ch`;
    const facts = [["", visible(bar.path || bar.label) + (bar.folded > 1 ? ` and ${bar.folded - 1} after it` : "")]];
    facts.push(["first seen", `${spelled(bar.first)}, step ${number(bar.first_step)}`]);
    if (bar.complete === null) facts.push(["complete", "not yet"]);
    else {
      facts.push(["complete", `${spelled(bar.complete)}, step ${number(bar.complete_step)}`]);
      facts.push(["took", spelled(bar.complete - bar.first)]);
    }
    facts.push(["size", `${bytes(bar.size)}, ${(bar.share * 100).toFixed(1)} % of the text`]);
    return facts;
  }

  #onHover(event) {
    const node = event.target.closest(".row");
    if (node?.bar && event.pointerType !== "touch") showTip(this.facts(node.bar), event.clientX, event.clientY);
    else hideTip();
  }

  #showActive() {
    const node = this.#active >= 0 ? this.list.element(this.#active) : null;
    if (node === null) return;
    const place = node.getBoundingClientRect();
    showTip(this.facts(node.bar), place.left + place.width * 0.4, place.bottom);
  }

  #onClick(event) {
    const node = event.target.closest(".row");
    if (!node?.bar) return;
    this.#active = node.index;
    this.jump(node.bar);
  }

  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !this.list.total) return;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: this.list.visible - 1, PageUp: 1 - this.list.visible };
    if (event.key in moves) {
      this.#active = Math.max(0, Math.min(this.list.total - 1, this.#active + moves[event.key]));
      this.list.reveal(this.#active);
      this.list.paint();
      setAttribute(this.scroller, "aria-activedescendant", `bar-${this.#active}`);
      this.#showActive();
    } else if (event.key === "Enter" && this.#active >= 0) this.jump(this.#bars[this.#active]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  clear() {
    this.#active = -1;
    setAttribute(this.scroller, "aria-activedescendant", null);
    this.isFollowing = true;
    this.chosen = null;
    this.setLayout({ axis: { unit: "seconds", total: 0, ticks: [] }, bars: [], left_out: 0 });
  }
}

function build(node) {
  const parts = { label: element("span", "label mono") };
  for (const name of ["wait", "grow", "done"]) parts[name] = element("i", name);
  node.append(parts.label, element("span", "lane", parts.wait, parts.grow, parts.done));
  node.parts = parts;
}
