// What was opened: a tab for each stream that the server has. Opening another one destroys nothing.

import * as api from "./api.js";
import { byId, element, setAttribute } from "./dom.js";
import { visible } from "./visible.js";

export class Streams {
  #samples = [];
  #listed = [];
  #current = null;

  /** `use(id)` shows another one; `closed(next)` when the one that is shown is closed; `compare(other)` compares. */
  constructor({ use, closed, compare }) {
    this.use = use;
    this.closed = closed;
    this.compare = compare;
    byId("compare").addEventListener("change", (event) => {
      const [kind, name] = event.target.value.split(" ", 2);
      event.target.value = "";
      if (name) compare({ [kind]: name });
    });
  }

  setInfo({ samples }) {
    this.#samples = samples;
  }

  /** The list, with this session as the one that is shown. */
  async show(current) {
    this.#current = current;
    this.#fill();
    try {
      this.#listed = (await api.sessions()).sessions;
    } catch {
      return; // the page says elsewhere that the server does not answer
    }
    this.#fill();
  }

  #fill() {
    const tabs = this.#listed.map((stream) => this.#tab(stream));
    byId("streams").replaceChildren(...tabs);
    byId("streams").hidden = !tabs.length;
    byId("streams").querySelector("[aria-current]")?.parentElement.scrollIntoView({ block: "nearest", inline: "nearest" });
    const others = this.#listed.filter(({ id }) => id !== this.#current);
    const select = byId("compare");
    const [first] = select.options;
    select.replaceChildren(first, ...group("Opened", others.map(({ id, title }) => [`id ${id}`, title])),
      ...group("Samples", this.#samples.map(({ name, title }) => [`sample ${name}`, title])));
    select.disabled = this.#current === null;
  }

  #tab({ id, title, is_live: isLive }) {
    const words = visible(title);
    const open = element("button", "open", isLive ? "● " : "", words);
    const close = element("button", "close", "×");
    open.type = close.type = "button";
    open.title = words;
    setAttribute(open, "aria-current", id === this.#current ? "true" : null);
    setAttribute(close, "aria-label", `Close ${words}`);
    close.title = "Close this stream";
    open.addEventListener("click", () => id === this.#current || this.use(id));
    close.addEventListener("click", () => this.#close(id));
    return element("span", "stream", open, close);
  }

  async #close(id) {
    const index = this.#listed.findIndex((stream) => stream.id === id);
    const next = this.#listed[index + 1] ?? this.#listed[index - 1] ?? null;
    try {
      await api.close(id);
    } catch {
      // it is gone already
    }
    if (id === this.#current) this.closed(next?.id ?? null);
    else this.show(this.#current);
  }
}

function group(label, choices) {
  if (!choices.length) return [];
  const made = element("optgroup");
  made.label = label;
  for (const [value, words] of choices) {
    const option = element("option", "", visible(words));
    option.value = value;
    made.append(option);
  }
  return [made];
}
