// The field above the tree. Text that begins with $ is a path pattern; the filter searches keys and values for any other
// text. For an invalid pattern, the server returns an error message and all rows.

import { byId, number, setAttribute, setText } from "./dom.js";
import { visible } from "./visible.js";

const TYPING = 120; // ms: half a pattern is not asked for

export class FilterField {
  #timer = 0;
  #found = []; // places in the text
  #at = -1;

  /** `changed()` when it is another one; `reveal(at)` brings a place of the text into sight. */
  constructor({ changed, reveal }) {
    this.reveal = reveal;
    this.field = byId("filter");
    this.field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#at = -1;
      this.#timer = setTimeout(changed, TYPING);
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !this.#found.length) return;
      event.preventDefault();
      this.#move(event.shiftKey ? -1 : 1);
    });
    byId("found-back").addEventListener("click", () => this.#move(-1));
    byId("found-forth").addEventListener("click", () => this.#move(1));
  }

  #move(by) {
    const count = this.#found.length;
    if (!count) return;
    this.#at = (this.#at + by + (this.#at < 0 && by < 0 ? 1 : 0) + count) % count;
    this.#showCount();
    this.reveal(this.#found[this.#at]);
  }

  question() {
    return { filter: this.field.value.trim() };
  }

  /** Whether there was something to clear. */
  clear() {
    if (!this.field.value) return false;
    this.field.value = "";
    this.field.dispatchEvent(new Event("input"));
    return true;
  }

  /** What is wrong with the pattern that was asked for (null if nothing is), and where in the text the words are. */
  show(problem, found) {
    const line = byId("filter-wrong");
    setText(line, visible(problem ?? ""));
    line.hidden = problem === null;
    setAttribute(this.field, "aria-invalid", problem === null ? null : "true");
    this.#found = found;
    this.#at = Math.min(this.#at, found.length - 1);
    byId("found").hidden = !found.length;
    this.#showCount();
  }

  #showCount() {
    const count = number(this.#found.length);
    byId("found").title = this.#at < 0 ? `${count} in the text` : `${number(this.#at + 1)} of ${count} in the text`;
  }
}
