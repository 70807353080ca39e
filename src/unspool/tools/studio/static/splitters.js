// The lines between the panels: drag them, or move them with the arrow keys; a double click puts them back.

import { setAttribute } from "./dom.js";

const STEP = 24; // px for a key
const LEAST = 120; // px of a panel
const KEPT = "unspool-panes";

/** `moved()` is called when a panel has another size. */
export function startSplitters(moved) {
  const kept = read();
  for (const line of document.querySelectorAll(".splitter")) {
    const splitter = new Splitter(line, kept, moved);
    line.addEventListener("pointerdown", (event) => splitter.drag(event));
    line.addEventListener("keydown", (event) => splitter.press(event));
    line.addEventListener("dblclick", () => splitter.reset());
  }
}

class Splitter {
  constructor(line, kept, moved) {
    this.line = line;
    this.kept = kept;
    this.moved = moved;
    this.isFlat = line.getAttribute("aria-orientation") === "horizontal";
    for (const panel of this.panels) if (kept[panel.id] !== undefined) this.#set(panel, kept[panel.id]);
    setAttribute(line, "aria-valuenow", 50);
  }

  get panels() {
    const { previousElementSibling: before, nextElementSibling: after } = this.line;
    return this.isFlat ? [after] : [before, after];
  }

  #size(panel) {
    const { width, height } = panel.getBoundingClientRect();
    return this.isFlat ? height : width;
  }

  // Panels side by side share their room; the one below has a height.
  #set(panel, size) {
    if (size === null) panel.style.removeProperty("--size");
    else panel.style.setProperty("--size", this.isFlat ? `${size}px` : String(size));
    this.kept[panel.id] = size;
  }

  #moveBy(by) {
    if (this.isFlat) {
      const [below] = this.panels;
      const most = window.innerHeight * 0.7;
      this.#set(below, Math.round(Math.max(LEAST / 2, Math.min(this.#size(below) - by, most))));
    } else {
      const siblings = [...this.line.parentElement.children].filter((one) => one.classList.contains("panel") && this.#size(one) > 0);
      const sizes = new Map(siblings.map((one) => [one, this.#size(one)]));
      const [before, after] = this.panels;
      const room = sizes.get(before) + sizes.get(after);
      const first = Math.max(Math.min(LEAST, room / 2), Math.min(sizes.get(before) + by, room - Math.min(LEAST, room / 2)));
      sizes.set(before, first).set(after, room - first);
      for (const [panel, size] of sizes) this.#set(panel, Math.round(size));
      setAttribute(this.line, "aria-valuenow", Math.round((first / room) * 100));
    }
    write(this.kept);
    this.moved();
  }

  drag(event) {
    event.preventDefault();
    const place = (from) => (this.isFlat ? from.clientY : from.clientX);
    let before = place(event);
    const move = (next) => {
      this.#moveBy(place(next) - before);
      before = place(next);
    };
    this.line.setPointerCapture(event.pointerId);
    this.line.addEventListener("pointermove", move);
    const end = () => this.line.removeEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) this.line.addEventListener(name, end, { once: true });
  }

  press(event) {
    const moves = this.isFlat ? { ArrowUp: -STEP, ArrowDown: STEP } : { ArrowLeft: -STEP, ArrowRight: STEP };
    if (!(event.key in moves) || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.#moveBy(moves[event.key]);
  }

  reset() {
    const all = this.isFlat ? this.panels : [...this.line.parentElement.children].filter((one) => one.classList.contains("panel"));
    for (const panel of all) this.#set(panel, null);
    write(this.kept);
    this.moved();
  }
}

// Storage may be forbidden; then the sizes last as long as the page.

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    const entries = Object.entries(kept).filter(([, size]) => Number.isFinite(size) && size > 0);
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

function write(kept) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // not kept
  }
}
