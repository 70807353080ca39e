// The summary of the stream: when its fields became usable, what it cost, how it ended, and what is wrong with it.

import { byId, element, number, seconds, setAttribute } from "./dom.js";

const GOOD_ENDS = ["stop", "tool_calls"];

export class Strip {
  #parts = [];
  #shown = "";

  /** `go(step)` is called for a moment that was clicked. */
  constructor({ go }) {
    this.go = go;
  }

  /** From the session document. */
  show({ summary, flaws, is_finished: isFinished, is_timed: isTimed }) {
    byId("strip").hidden = false;
    const place = isTimed ? seconds : (value) => `${number(value)} ch`;
    const facts = [];
    for (const [name, label] of [["first", "first field"], ["half", "half of the fields"], ["all", summary.is_whole ? "all fields" : "last complete field"]]) {
      const moment = summary[name];
      if (moment !== null && (name === "first" || isFinished)) facts.push([label, place(moment.place), moment.step]);
    }
    if (summary.output_tokens !== null)
      facts.push(["tokens", `${number(summary.input_tokens ?? 0)} in, ${number(summary.output_tokens)} out`]);
    else facts.push(["characters", number(summary.characters)]);
    if (summary.finish_reason !== null)
      facts.push(["finish reason", summary.finish_reason.replaceAll("_", " "), null, !GOOD_ENDS.includes(summary.finish_reason)]);
    facts.push(["errors", number(flaws.length), flaws[0]?.step ?? null, flaws.length > 0]);
    const shown = JSON.stringify(facts);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#parts = facts.map((fact) => this.#part(...fact));
    byId("facts").replaceChildren(...this.#parts);
  }

  #part(label, value, step = null, isWarning = false) {
    const words = [element("b", "mono", value), element("span", "", label)];
    const part = step === null ? element("span", "fact-box", ...words) : element("button", "fact-box", ...words);
    part.classList.toggle("warning", isWarning);
    if (step === null) return part;
    part.type = "button";
    part.step = step;
    part.title = `Go to step ${number(step)}`;
    part.addEventListener("click", () => this.go(step));
    return part;
  }

  /** Moments after this step are still to come. */
  setStep(step) {
    for (const part of this.#parts)
      if (part.step !== undefined) setAttribute(part, "data-later", part.step > step ? "" : null);
  }
}
