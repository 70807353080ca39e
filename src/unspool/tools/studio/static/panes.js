// Two panes: a message in its parts, each as what it is; and the chosen value, whole, to be read and copied.

import { element, number, seconds } from "./dom.js";
import { say } from "./status.js";
import { appendVisible, visible } from "./visible.js";

const KINDS = {
  text: "text", reasoning: "reasoning", refusal: "refusal", tool_call: "tool call", tool_result: "tool result",
  file: "file", source: "source", opaque: "other",
};

const quiet = (words) => element("p", "quiet", words);

/** `show(track)` is called for a part whose text is to be shown. */
export function messageParts(message, track, show) {
  if (message === null) return [quiet("This input is not a message of a language model.")];
  const head = [message.role, message.model].filter(Boolean).map(visible).join(", ");
  const rows = [quiet(head || "The message has not begun.")];
  if (message.left_out) rows.push(quiet(`${number(message.left_out)} earlier parts are not listed.`));
  for (const part of message.parts) {
    const kind = element("b", "", KINDS[part.type] ?? part.type);
    const status = element("span", `badge is-${part.status}`, part.status);
    const size = element("span", "quiet", part.length ? `${number(part.length)} characters` : "");
    const head = element(part.track === null ? "div" : "button", "part-head", kind, appendVisible(element("span", "name"), part.name ?? ""), status, size);
    if (part.track !== null) {
      head.type = "button";
      head.title = "Show the text of this part";
      head.addEventListener("click", () => show(part.track));
    }
    const row = element("div", `part is-${part.type}`, head);
    if (part.text) row.append(appendVisible(element("pre"), part.text, { lines: true }));
    row.classList.toggle("shown", part.track !== null && part.track === track);
    rows.push(row);
  }
  return rows;
}

/** `go(step)` goes to a step; `whole()` resolves to {text}, the whole value. */
export function selectedParts(chosen, { is_timed: isTimed }, go, whole) {
  if (chosen === null) return [quiet("Click a value in the tree, an event or a bar of the waterfall: it is marked everywhere, and shown here as a whole.")];
  const place = isTimed ? seconds : (value) => `${number(value)} ch`;
  const path = appendVisible(element("b", "path"), chosen.path);
  const head = element("div", "line", path, element("span", `badge is-${chosen.is_open ? "partial" : "complete"}`, chosen.is_open ? "open" : chosen.kind));
  for (const [name, step, at] of [["first seen", chosen.first_step, chosen.first], ["complete", chosen.complete_step, chosen.complete]])
    if (step !== null) head.append(button("link", `${name} ${place(at)}, step ${number(step)}`, () => go(step)));
  head.append(
    button("", "Copy value", () => copy(async () => (await whole()).text, "the value")),
    button("", "Copy path", () => copy(async () => chosen.path, "the path")),
  );
  return [head, appendVisible(element("pre", "whole"), chosen.text, { lines: true })];
}

function button(className, words, act) {
  const made = element("button", className, words);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(await text());
    say(`Copied ${what}`);
  } catch (error) {
    say(`The browser did not copy ${what}: ${error.message}`);
  }
}
