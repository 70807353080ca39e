// The path filter. For an invalid pattern, the server returns an error message and all rows.

import { byId, setAttribute, setText } from "./dom.js";
import { visible } from "./visible.js";

const TYPING = 120; // ms: half a pattern is not asked for

export class FilterField {
  #timer = 0;

  constructor({ changed }) {
    this.field = byId("filter");
    this.field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(changed, TYPING);
    });
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

  /** What is wrong with the pattern that was asked for; null if nothing is. */
  show(problem) {
    const line = byId("filter-wrong");
    setText(line, visible(problem ?? ""));
    line.hidden = problem === null;
    setAttribute(this.field, "aria-invalid", problem === null ? null : "true");
  }
}
