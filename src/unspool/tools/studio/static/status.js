// Words for the user: a line that is read out, a message that stays until it is closed, and the state of the connection.

import { byId, setText } from "./dom.js";
import { visible } from "./visible.js";

export function say(words) {
  setText(byId("status"), visible(words));
}

/** A message above the panels; none with the empty string. */
export function notice(words) {
  setText(byId("notice-text"), visible(words));
  byId("notice").hidden = !words;
}

export function complain(words) {
  notice(words);
  say(words);
}

export function connected(is) {
  setText(byId("connection"), is ? "" : "connection lost, trying again …");
}

/** While something is opened, which may take a while. */
export function busy(is) {
  byId("busy").hidden = !is;
}

byId("notice-close").addEventListener("click", () => notice(""));
