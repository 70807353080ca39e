// The one tooltip.

import { byId, element } from "./dom.js";

const AWAY = 12; // px

/** Show facts, pairs of a name and a value, near a place of the window. */
export function showTip(facts, x, y) {
  const tip = byId("tip");
  const list = element("dl");
  for (const [name, value] of facts)
    if (name) list.append(element("dt", "", name), element("dd", "", value));
    else list.append(element("dd", "wide mono", value));
  tip.replaceChildren(list);
  tip.hidden = false;
  const { offsetWidth, offsetHeight } = tip;
  const left = Math.max(8, Math.min(x + AWAY, window.innerWidth - offsetWidth - 8));
  const isBelow = y + AWAY + offsetHeight < window.innerHeight;
  tip.style.setProperty("left", `${left}px`);
  tip.style.setProperty("top", `${Math.max(8, isBelow ? y + AWAY : y - AWAY - offsetHeight)}px`);
}

export function hideTip() {
  byId("tip").hidden = true;
}
