// Light, dark, or as the system has it. Storage may be forbidden; then it lasts as long as the page.

import { byId, setText } from "./dom.js";

const THEMES = ["auto", "light", "dark"];
let kept = "auto";

function read() {
  try {
    return localStorage.getItem("unspool-theme");
  } catch {
    return null;
  }
}

function use(theme) {
  kept = THEMES.includes(theme) ? theme : "auto";
  if (kept === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = kept;
  setText(byId("theme"), kept[0].toUpperCase() + kept.slice(1));
  try {
    localStorage.setItem("unspool-theme", kept);
  } catch {
    // not kept
  }
}

export function start() {
  use(read());
  byId("theme").addEventListener("click", next);
}

export function next() {
  use(THEMES[(THEMES.indexOf(kept) + 1) % THEMES.length]);
}
