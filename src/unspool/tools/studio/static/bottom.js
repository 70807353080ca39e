// The tabs below: what one step brought, and what is known after it. Only the open one is filled.

import { byId, bytes, element, number, setAttribute } from "./dom.js";
import { messageParts, selectedParts } from "./panes.js";
import { appendVisible, visible } from "./visible.js";

const TABS = ["events", "message", "selected", "typed", "patches", "diagnostics", "state"];

export class Bottom {
  #open = "events";
  #view = null;
  #document = null;

  /**
   * `go(step)` is called for a clicked step, `choose(track, path)` for a clicked path, `show(track)` for a clicked part
   * of a message; `whole()` asks for the whole text of the chosen value.
   */
  constructor({ go, choose, show, whole }) {
    this.go = go;
    this.choose = choose;
    this.showTrack = show;
    this.whole = whole;
    for (const name of TABS) byId(`tab-${name}`).addEventListener("click", () => this.open(name));
    byId("tab-events").parentElement.addEventListener("keydown", (event) => this.#onKey(event));
    this.open(this.#open);
  }

  open(name) {
    this.#open = name;
    for (const other of TABS) {
      const tab = byId(`tab-${other}`);
      setAttribute(tab, "aria-selected", other === name);
      tab.tabIndex = other === name ? 0 : -1;
      byId(`pane-${other}`).hidden = other !== name;
    }
    this.#fill();
  }

  openAt(index) {
    if (!byId(`tab-${TABS[index]}`).hidden) this.open(TABS[index]);
  }

  show(view, known) {
    this.#view = view;
    this.#document = known;
    const { events, typed, patches, diagnostics, message, chosen } = view;
    byId("tab-message").hidden = message === null;
    if (message === null && this.#open === "message") this.open("events");
    count("events", number(events.total));
    count("message", message === null ? "" : number(message.parts.length + message.left_out));
    count("selected", chosen === null ? "" : chosen.is_open ? "open" : chosen.kind);
    count("typed", typed === null ? "" : typed.status, typed?.status === "invalid");
    count("patches", patches.count ? bytes(patches.bytes) : "");
    count("diagnostics", number(diagnostics.length), diagnostics.some((one) => one.is_flaw));
    this.#fill();
  }

  clear() {
    this.#view = null;
    for (const name of TABS) {
      count(name, "");
      byId(`pane-${name}`).replaceChildren();
    }
  }

  #fill() {
    if (this.#view === null) return;
    const parts = this[`${this.#open}Parts`](this.#view, this.#document);
    byId(`pane-${this.#open}`).replaceChildren(...parts);
  }

  #onKey(event) {
    const moves = { ArrowLeft: -1, ArrowRight: 1 };
    if (!(event.key in moves) || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const shown = TABS.filter((name) => !byId(`tab-${name}`).hidden);
    this.open(shown[(shown.indexOf(this.#open) + moves[event.key] + shown.length) % shown.length]);
    byId(`tab-${this.#open}`).focus();
  }

  eventsParts({ events, chosen }) {
    if (!events.total) return [quiet("No events with this step.")];
    const rows = events.rows.map(({ kind, path, value }) => {
      const place = this.#link(path, () => this.choose(null, path));
      const line = element("div", "line event", element("span", "kind", kind), place, shown("value", value));
      line.classList.toggle("chosen", path === chosen?.path);
      return line;
    });
    if (events.total > rows.length) rows.push(quiet(`and ${number(events.total - rows.length)} more`));
    return rows;
  }

  messageParts({ message, track }) {
    return messageParts(message, track, this.showTrack);
  }

  selectedParts({ chosen }, known) {
    return selectedParts(chosen, known, this.go, this.whole);
  }

  #link(path, act) {
    const link = appendVisible(element("button", "link path"), path);
    link.type = "button";
    link.title = "Select this value";
    link.addEventListener("click", act);
    return link;
  }

  typedParts({ typed }) {
    if (typed === null)
      return [quiet("No type. Give a JSON Schema with the Schema button, or start the studio with --type module:Model, to see the typed value grow.")];
    const parts = [element("div", "line", element("span", `badge is-${typed.status}`, typed.status))];
    for (const { path, text } of typed.problems)
      parts.push(element("div", "line wrong", this.#link(path, () => this.choose(null, path)), shown("value", text)));
    if (typed.missing.length) parts.push(element("div", "line", element("span", "kind", "missing"), shown("value", typed.missing.join("  "))));
    parts.push(appendVisible(element("pre"), typed.value, { lines: true }));
    return parts;
  }

  patchesParts({ patches }) {
    if (!patches.count) return [quiet("No patch with this step.")];
    const operations = patches.count === 1 ? "1 operation" : `${number(patches.count)} operations`;
    const rows = [quiet(`${operations}, ${bytes(patches.bytes)} for ${bytes(patches.text_bytes)} of text`)];
    for (const row of patches.rows) rows.push(element("div", "line", shown("value", row)));
    if (patches.count > patches.rows.length) rows.push(quiet(`and ${number(patches.count - patches.rows.length)} more`));
    return rows;
  }

  diagnosticsParts({ diagnostics, error }) {
    if (!diagnostics.length && error === null) return [quiet("Nothing to note.")];
    return diagnostics.map(({ step, text, path, track, is_flaw: isFlaw }) => {
      const line = element("div", isFlaw ? "line wrong" : "line");
      if (Number.isInteger(step)) {
        const link = element("button", "link", `step ${number(step)}`);
        link.type = "button";
        link.addEventListener("click", () => this.go(step));
        line.append(link);
      }
      if (path) line.append(this.#link(path, () => this.choose(track, path)));
      line.append(shown("value", text));
      return line;
    });
  }

  stateParts({ state }) {
    const list = element("dl", "facts");
    for (const [name, value] of Object.entries(state)) {
      if (value === null || value === "") continue;
      const text = typeof value === "string" ? value : typeof value === "number" ? number(value) : spelled(value);
      list.append(element("dt", "", visible(name).replaceAll("_", " ")), appendVisible(element("dd"), text));
    }
    return [list];
  }
}

const quiet = (words) => element("p", "quiet", words);

const shown = (name, text) => appendVisible(element("span", name), text);

function spelled(value) {
  if (value === true) return "yes";
  if (value === false) return "no";
  return JSON.stringify(value);
}

function count(name, text, isWarning = false) {
  const badge = byId(`tab-${name}`).querySelector("b");
  if (badge.textContent !== text) badge.textContent = text;
  badge.classList.toggle("warning", isWarning);
}
