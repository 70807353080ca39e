// One row of the waterfall: its label, its bar, and the facts about it.

import { bytes, element, number, seconds } from "./dom.js";
import { setVisible, visible } from "./visible.js";

const percent = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;

export const isContainer = (bar) => bar.kind === "object" || bar.kind === "array" || bar.kind === "json";

function build(node) {
  const parts = { fold: element("span", "fold"), label: element("span", "label mono"), words: element("span", "words") };
  parts.fold.setAttribute("aria-hidden", "true");
  parts.label.append(parts.fold, parts.words);
  for (const name of ["wait", "grow", "done"]) parts[name] = element("i", name);
  parts.flaws = element("span", "flaws");
  node.append(parts.label, element("span", "lane", parts.wait, parts.grow, parts.done, parts.flaws));
  node.parts = parts;
}

/** Draw a bar into its row. */
export function fillBar(node, bar, axis, flaws, isFolded) {
  if (node.parts === undefined) build(node);
  const { fold, label, words, wait, grow, done } = node.parts;
  const canUnfold = bar.folded > 1;
  setVisible(fold, canUnfold ? "+" : isContainer(bar) ? (isFolded ? "▸" : "▾") : "");
  setVisible(words, bar.label);
  label.style.setProperty("padding-inline-start", `${4 + Math.min(bar.depth, 10) * 8}px`);
  label.classList.toggle("is-folded", canUnfold);
  const total = axis.total || 1;
  const end = bar.complete ?? axis.total;
  wait.style.setProperty("width", percent(bar.first / total));
  grow.style.setProperty("left", percent(bar.first / total));
  grow.style.setProperty("width", percent((end - bar.first) / total));
  grow.hidden = end <= bar.first;
  grow.classList.toggle("unfinished", bar.complete === null);
  done.style.setProperty("left", percent(end / total));
  done.hidden = bar.complete === null;
  const marks = flaws.map(({ place }) => {
    const mark = element("i", "flaw");
    mark.style.setProperty("left", percent(place / total));
    return mark;
  });
  node.parts.flaws.replaceChildren(...marks);
  node.setAttribute("role", "option");
  node.setAttribute("aria-label", describe(bar, axis, flaws).map(([name, value]) => `${name} ${value}`).join(", "));
}

/** The facts about a bar: names and values. */
export function describe(bar, axis, flaws) {
  const spelled = axis.unit === "seconds" ? seconds : (value) => `${number(value)} ch`;
  const facts = [["", visible(bar.path || bar.label) + (bar.folded > 1 ? ` and ${number(bar.folded - 1)} after it: click to show more` : "")]];
  facts.push(["first seen", `${spelled(bar.first)}, step ${number(bar.first_step)}`]);
  if (bar.complete === null) facts.push(["complete", "not yet"]);
  else {
    facts.push(["complete", `${spelled(bar.complete)}, step ${number(bar.complete_step)}`]);
    facts.push(["took", spelled(bar.complete - bar.first)]);
  }
  facts.push(["size", `${bytes(bar.size)}, ${(bar.share * 100).toFixed(1)} % of the text`]);
  for (const { step, text } of flaws) facts.push(["error", `step ${number(step)}: ${visible(text)}`]);
  return facts;
}
