// Words for the user: a line that is read out, a message that stays until it is closed, and the state of the connection.

import { byId, setText } from "./dom.js";
import { visible } from "./visible.js";

export function say(words) {
  setText(byId("status"), visible(words));
}

let act = () => {};

/** A message above the panels, maybe with a button that does something about it; none with the empty string. */
export function notice(words, label = "", action = () => {}) {
  setText(byId("notice-text"), visible(words));
  setText(byId("notice-act"), label);
  byId("notice-act").hidden = !label;
  byId("notice").hidden = !words;
  act = action;
}

export function complain(words) {
  notice(words);
  say(words);
}

export function connected(is) {
  setText(byId("connection"), is ? "" : "connection lost, trying again …");
}

byId("notice-act").addEventListener("click", () => act());
byId("notice-close").addEventListener("click", () => notice(""));
