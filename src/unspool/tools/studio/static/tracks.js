// Which of the texts of a message is shown: its content, its reasoning, the arguments of a call. Unless one is chosen,
// the server shows the first that is JSON.

import { byId, element, number } from "./dom.js";
import { visible } from "./visible.js";

export class TracksField {
  #chosen = null;
  #names = "";

  constructor({ changed }) {
    this.select = byId("track");
    this.select.addEventListener("change", () => {
      changed();
    });
  }

  question() {
    return this.#chosen === null ? {} : { track: this.#chosen };
  }

  /** The tracks of the session document. */
  setTracks(tracks) {
    const names = JSON.stringify(tracks.map(({ name, label, error }) => [name, label, error !== null]));
    byId("track-field").hidden = tracks.length < 2;
    if (names === this.#names) return;
    this.#names = names;
    const shown = this.select.value;
    const options = tracks.map(({ name, label, length, error }) => {
      const option = element("option", "", `${visible(label)}${error === null ? "" : " (error)"}`);
      option.value = name;
      option.title = `${number(length)} characters`;
      return option;
    });
    this.select.replaceChildren(...options);
    this.select.value = shown;
  }

  use(name) {
    this.#chosen = name;
  }

  show(name) {
    if (name !== null && this.select.value !== name) this.select.value = name;
  }

  clear() {
    this.#chosen = null;
    this.setTracks([]);
  }
}
