// The keys. Fields keep theirs; the tree, the waterfall and the tabs take the arrows when they have the focus.

import { byId, element } from "./dom.js";

const KEYS = [
  ["Space", "play or pause"],
  ["← →  or  , .", "one step back or forth"],
  ["Shift ← →  or  < >", "previous or next completion"],
  ["Home  End", "to the start, to the end"],
  ["+ −", "faster, slower"],
  ["/", "search, or filter by path"],
  ["Enter  Shift Enter", "in the search: next or previous place in the text"],
  ["F", "follow the open end"],
  ["↑ ↓ ← →  Enter", "in the value: move, fold and unfold, choose"],
  ["↑ ↓ ← →  Enter", "in the waterfall: move, fold and unfold, jump to the completion"],
  ["← → ↑ ↓", "on a line between panels: move it"],
  ["1 … 7", "events, message, selected, typed, patches, diagnostics, state"],
  ["P  O  U", "paste, open a file, watch a URL"],
  ["T", "light, dark, as the system has it"],
  ["?", "this list"],
  ["Escape", "close; back to the time"],
];

/** `actions` has a function for each name below. */
export function listen(actions) {
  const names = {
    " ": "toggle", ArrowLeft: "back", ArrowRight: "forth", ",": "back", ".": "forth", "<": "previous", ">": "next",
    Home: "start", End: "end", "/": "filter", "?": "help", f: "follow", p: "paste", o: "file", u: "url", t: "theme",
    "+": "faster", "=": "faster", "-": "slower", Escape: "escape",
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || isField(event.target)) {
      if (event.key === "Escape" && event.target.id === "filter") actions.escape();
      return;
    }
    if (event.key === " " && event.target.closest("button, summary")) return; // it presses the button
    let name = names[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (event.shiftKey && event.key === "ArrowLeft") name = "previous";
    if (event.shiftKey && event.key === "ArrowRight") name = "next";
    if (/^[1-7]$/.test(event.key)) name = "tab";
    if (name === undefined) return;
    event.preventDefault();
    actions[name](event.key);
  });
  for (const [keys, what] of KEYS) byId("keys").append(element("dt", "", keys), element("dd", "", what));
}

function isField(target) {
  if (target.id === "scrub") return false;
  return target.matches("input, textarea, select") || target.isContentEditable;
}
