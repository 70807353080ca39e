// When did each field become usable? A bar for each: thin until it is first seen, light while it grows, solid where it
// is complete; and a line for now, behind which everything is still to come. Errors are marked where they are.

import { describe, fillBar, isContainer } from "./bar.js";
import { byId, element, number, setAttribute, setText } from "./dom.js";
import { canonical, outer } from "./paths.js";
import { RowList } from "./rowlist.js";
import { hideTip, showTip } from "./tip.js";

const LANE = 0.58; // of the width is for the bars
const CHARACTER = 7; // px
const MORE = 100; // items that are shown with a click on the folded ones

const percent = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;
const keyOf = (bar) => `${bar.track} ${bar.path}`;

export class WaterfallPanel {
  #all = []; // the bars of the server
  #bars = []; // those that are not inside a folded one
  #folded = new Set();
  #unfolded = new Map(); // arrays by track and id, with the number of items that are shown
  #flaws = [];
  #wrong = new Map(); // the flaws of a bar
  #known = null; // the layout of the session document
  #asked = 0;
  #isFiltered = false;
  #axis = { unit: "seconds", total: 0, ticks: [] };
  #step = 0;
  #leftOut = 0;
  #active = -1;
  #version = 0; // bars are patched in place, so a bar that is the same object may say something else
  chosen = null; // {track, path}
  isFollowing = true; // until someone scrolls

  /** `jump(bar)` is called for a clicked bar; `ask(unfolded)` resolves to the layout with a filter or unfolded arrays. */
  constructor({ jump, ask }) {
    this.jump = jump;
    this.ask = ask;
    this.scroller = byId("waterfall");
    this.list = new RowList(this.scroller, {
      fill: (index, node) => this.#fill(index, node),
      key: (index) => `${keyOf(this.#bars[index])} ${this.#bars[index].folded} ${index}`,
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

  /** The waterfall and the flaws of the session document. */
  setLayout(layout, flaws) {
    this.#known = layout;
    this.#flaws = flaws;
    if (!this.#isFiltered && !this.#unfolded.size) this.#lay(layout);
  }

  /** The filter is another one, or there is more to be filtered. */
  async refresh(filter) {
    this.#isFiltered = filter !== "";
    this.#asked += 1;
    const asked = this.#asked;
    if (!this.#isFiltered && !this.#unfolded.size) {
      if (this.#known !== null) this.#lay(this.#known);
      return;
    }
    const unfolded = [...this.#unfolded.values()];
    try {
      const layout = await this.ask(unfolded.length ? JSON.stringify(unfolded) : "");
      if (asked === this.#asked) this.#lay(layout);
    } catch {
      // the view of the same step says what is wrong
    }
  }

  #lay({ axis, bars, left_out }) {
    this.#all = bars;
    this.#axis = axis;
    this.#leftOut = left_out;
    this.#drawAxis();
    this.#arrange();
    if (this.isFollowing) this.#revealNow();
  }

  // Bars inside a folded one are left out, and each flaw goes to the innermost bar around it.
  #arrange() {
    let inside = Infinity;
    this.#bars = this.#all.filter((bar) => {
      if (bar.depth > inside) return false;
      inside = this.#folded.has(keyOf(bar)) ? bar.depth : Infinity;
      return true;
    });
    this.#version += 1;
    this.#blame();
    this.#showFact();
    this.list.setTotal(this.#bars.length);
    this.list.paint();
  }

  #blame() {
    this.#wrong.clear();
    if (!this.#flaws.length) return;
    const places = new Map();
    for (const bar of this.#bars) if (bar.folded <= 1) places.set(`${bar.track} ${bar.path && canonical(bar.path)}`, bar);
    for (const flaw of this.#flaws) {
      const around = flaw.path === null ? [] : outer(flaw.path);
      const found = around.map((path) => places.get(`${flaw.track} ${path}`)).filter(Boolean);
      const bar = found.sort((one, two) => two.depth - one.depth)[0] ?? places.get(`${flaw.track} `) ?? this.#bars[0];
      if (bar === undefined) continue;
      this.#wrong.set(bar, [...(this.#wrong.get(bar) ?? []), flaw]);
    }
  }

  #fold(bar, is) {
    if (is) this.#folded.add(keyOf(bar));
    else this.#folded.delete(keyOf(bar));
    this.#arrange();
  }

  #unfold(bar) {
    const key = `${bar.track} ${bar.id}`;
    const [, , before] = this.#unfolded.get(key) ?? [bar.track, bar.id, this.#shownOf(bar)];
    this.#unfolded.set(key, [bar.track, bar.id, before + MORE]);
    this.isFollowing = false;
    this.refresh(this.#isFiltered ? "on" : "");
  }

  // The number of items before the folded ones.
  #shownOf(bar) {
    const end = this.#bars.indexOf(bar);
    let count = 0;
    for (let index = end - 1; index >= 0 && this.#bars[index].depth >= bar.depth; index -= 1)
      if (this.#bars[index].depth === bar.depth) count += 1;
    return count;
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
    const complete = this.#all.filter((bar) => bar.complete_step !== null && bar.complete_step <= this.#step).length;
    const words = `${number(complete)} of ${number(this.#all.length)} complete`;
    setText(byId("waterfall-fact"), this.#all.length ? words : this.#isFiltered ? "nothing matches" : "");
    byId("waterfall-fact").title = this.#leftOut ? `${number(this.#leftOut)} more are folded away` : "";
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
    node.index = index;
    node.id = `bar-${index}`;
    const flaws = this.#wrong.get(bar) ?? [];
    const isComplete = bar.complete_step !== null && bar.complete_step <= this.#step;
    const stage = isComplete ? "complete" : bar.first_step <= this.#step ? "growing" : "later";
    const isChosen = this.chosen !== null && this.chosen.track === bar.track && this.chosen.path === bar.path;
    const isWrong = flaws.some(({ step }) => step <= this.#step);
    const marks = `${isChosen ? " chosen" : ""}${index === this.#active ? " active" : ""}${isWrong ? " wrong" : ""}`;
    const className = `row ${stage}${marks}`;
    if (node.className !== className) node.className = className;
    setAttribute(node, "aria-selected", isChosen);
    if (node.bar === bar && node.version === this.#version) return;
    node.bar = bar;
    node.version = this.#version;
    setAttribute(node, "aria-posinset", index + 1);
    setAttribute(node, "aria-setsize", this.#bars.length);
    fillBar(node, bar, this.#axis, flaws, this.#folded.has(keyOf(bar)));
  }

  #facts(bar) {
    return describe(bar, this.#axis, this.#wrong.get(bar) ?? []);
  }

  #onHover(event) {
    const node = event.target.closest(".row");
    if (node?.bar && event.pointerType !== "touch") showTip(this.#facts(node.bar), event.clientX, event.clientY);
    else hideTip();
  }

  #showActive() {
    const node = this.#active >= 0 ? this.list.element(this.#active) : null;
    if (node === null) return;
    const place = node.getBoundingClientRect();
    showTip(this.#facts(node.bar), place.left + place.width * 0.4, place.bottom);
  }

  #onClick(event) {
    const node = event.target.closest(".row");
    if (!node?.bar) return;
    this.#active = node.index;
    this.#act(node.bar, event.target.closest(".fold") !== null);
  }

  #act(bar, isFold) {
    if (bar.folded > 1) this.#unfold(bar);
    else if (isFold && isContainer(bar)) this.#fold(bar, !this.#folded.has(keyOf(bar)));
    else this.jump(bar);
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
    } else if (this.#active < 0) return;
    else if (event.key === "Enter") this.#act(this.#bars[this.#active], false);
    else if (event.key === "ArrowLeft") this.#fold(this.#bars[this.#active], true);
    else if (event.key === "ArrowRight") this.#fold(this.#bars[this.#active], false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  clear() {
    this.#active = -1;
    this.#step = 0;
    setAttribute(this.scroller, "aria-activedescendant", null);
    this.isFollowing = true;
    this.chosen = null;
    this.#folded.clear();
    this.#unfolded.clear();
    this.#asked += 1;
    this.#known = null;
    this.#flaws = [];
    this.#lay({ axis: { unit: "seconds", total: 0, ticks: [] }, bars: [], left_out: 0 });
  }
}
