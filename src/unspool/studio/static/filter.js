// The path filter. A pattern that the server refuses is said to be wrong and not asked for again; the panels go on
// without it.

import { byId, setAttribute, setText } from "./dom.js";
import { visible } from "./visible.js";

const TYPING = 120; // ms: half a pattern is not asked for

export class FilterField {
  #refused = null;
  #timer = 0;

  constructor({ changed }) {
    this.field = byId("filter");
    this.field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(changed, TYPING);
    });
  }

  get #value() {
    return this.field.value.trim();
  }

  question() {
    return { filter: this.#value === this.#refused ? "" : this.#value };
  }

  /** Whether there was something to clear. */
  clear() {
    if (!this.field.value) return false;
    this.field.value = "";
    this.field.dispatchEvent(new Event("input"));
    return true;
  }

  refuse(pattern, words) {
    this.#refused = pattern;
    this.#say(words);
  }

  /** A view came that was asked for with this pattern. */
  accept(pattern) {
    if (pattern === this.#value) this.#say("");
  }

  #say(words) {
    const line = byId("filter-wrong");
    setText(line, visible(words));
    line.hidden = !words;
    setAttribute(this.field, "aria-invalid", words ? "true" : null);
  }
}
