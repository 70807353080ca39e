// A list of rows of one height, of which only those that are to be seen are in the page.
//
// The scroller holds a sheet that sticks to its top, and a spacer as high as all rows. Browsers limit how high an
// element may be: of very long lists the spacer is shorter, and the scroll bar stands for a share of the list.

import { element } from "./dom.js";

export const ROW = 24;
const HIGHEST = 8_000_000; // px

export class RowList {
  total = 0;
  first = 0;
  #elements = new Map();
  #expected = -1;
  #frame = 0;
  #height = -1;

  /** `fill(index, node)` fills a row's element; `key(index)` names it; `scrolled()` is called when the user scrolls. */
  constructor(scroller, { fill, key, scrolled = () => {}, shown = () => {} }) {
    this.scroller = scroller;
    this.fill = fill;
    this.key = key;
    this.scrolled = scrolled;
    this.shown = shown;
    this.sheet = element("div", "sheet");
    this.spacer = element("div", "spacer");
    this.sheet.setAttribute("role", "presentation");
    this.spacer.setAttribute("role", "presentation");
    scroller.append(this.sheet, this.spacer);
    scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    new ResizeObserver(() => {
      this.setTotal(this.total);
      this.later();
    }).observe(scroller);
  }

  get visible() {
    return Math.max(1, Math.ceil(this.scroller.clientHeight / ROW));
  }

  get isAtEnd() {
    return this.scroller.scrollTop + this.scroller.clientHeight >= this.scroller.scrollHeight - ROW / 2;
  }

  element(index) {
    return this.#elements.get(this.key(index)) ?? null;
  }

  setTotal(total) {
    this.total = total;
    const room = this.scroller.clientHeight;
    const rest = total * ROW > room ? room % ROW : 0; // at the end, the top row is fully visible
    const height = Math.min(total * ROW, HIGHEST) + rest;
    if (height === this.#height) return;
    this.#height = height;
    this.spacer.style.setProperty("height", `${height}px`);
    // The browser scrolls by itself when a list becomes shorter; the user did not.
    this.#expected = Math.min(this.#expected, Math.max(0, this.scroller.scrollHeight - this.scroller.clientHeight));
  }

  toEnd() {
    this.#scrollTo(this.scroller.scrollHeight);
  }

  /** Scroll as little as is needed to see this row. */
  reveal(index) {
    const whole = Math.max(1, Math.floor(this.scroller.clientHeight / ROW));
    const top = this.#topRow();
    if (index < top) this.#scrollTo(this.#pixels(index));
    else if (index >= top + whole) this.#scrollTo(this.#pixels(index - whole + 1));
  }

  /** Scroll so that this row is the last but one that is seen. */
  endAt(index) {
    const whole = Math.max(1, Math.floor(this.scroller.clientHeight / ROW));
    this.#scrollTo(this.#pixels(Math.max(0, index - whole + 2)));
  }

  #scrollTo(top) {
    this.scroller.scrollTop = top;
    this.#expected = this.scroller.scrollTop;
  }

  get #isScaled() {
    return this.total * ROW > HIGHEST;
  }

  #pixels(row) {
    if (!this.#isScaled) return row * ROW;
    const room = HIGHEST - this.scroller.clientHeight;
    return (row / Math.max(1, this.total - this.scroller.clientHeight / ROW)) * room;
  }

  #topRow() {
    const top = this.scroller.scrollTop;
    if (!this.#isScaled) return top / ROW;
    const room = HIGHEST - this.scroller.clientHeight;
    return (top / room) * (this.total - this.scroller.clientHeight / ROW);
  }

  #onScroll() {
    const isByHand = Math.abs(this.scroller.scrollTop - this.#expected) > 1;
    this.#expected = this.scroller.scrollTop;
    if (isByHand) this.scrolled();
    this.later();
  }

  later() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const top = Math.max(0, this.#topRow());
    this.first = Math.floor(top);
    const last = Math.min(this.total, this.first + this.visible + 1);
    const kept = new Map();
    let next = this.sheet.firstChild; // rows are in document order, for screen readers
    for (let index = this.first; index < last; index += 1) {
      const key = this.key(index);
      let node = this.#elements.get(key);
      if (node === undefined || kept.has(key)) {
        node = element("div", "row");
      }
      this.#elements.delete(key);
      if (node === next) next = next.nextSibling;
      else this.sheet.insertBefore(node, next);
      kept.set(key, node);
      node.style.setProperty("transform", `translateY(${(index - top) * ROW}px)`);
      this.fill(index, node);
    }
    for (const node of this.#elements.values()) node.remove();
    this.#elements = kept;
    this.shown(this.first, last);
  }
}
