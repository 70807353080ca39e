// What is opened: a sample, pasted text, a file (chosen, or dropped anywhere), a URL.

import { byId, bytes, element, setText } from "./dom.js";

const SVG = document.querySelector("svg").namespaceURI;
const PAIR = ["unordered-a", "unordered-b"];
const BAR = 4; // of the drawing on a card, and as much between two bars
const LEAST = 1.5; // % of its width

export class Opening {
  #most = Infinity;
  #depth = 0;

  /** `open(source)`: a source is {text}, {sample}, {url} or {file}, and options. `complain(words)`; `schemaFile(file)`. */
  constructor({ open, complain, schemaFile }) {
    this.open = open;
    this.complain = complain;
    this.schemaFile = schemaFile;
    this.dialog = byId("open-dialog");
    byId("paste").addEventListener("click", () => this.ask("open-text"));
    byId("url").addEventListener("click", () => this.ask("open-url"));
    byId("file").addEventListener("click", () => this.choose());
    byId("chooser").addEventListener("change", (event) => this.#chosen(event.target));
    byId("sample").addEventListener("change", (event) => this.#sample(event.target));
    byId("open-form").addEventListener("submit", (event) => this.#submit(event));
    this.#listenForDrops();
    document.addEventListener("paste", (event) => this.#pasted(event));
  }

  /** What the server has and allows. */
  setInfo({ samples, formats, limits, has_urls: hasUrls }) {
    this.#most = limits.bytes;
    byId("url").hidden = !hasUrls;
    const choices = samples.map(({ name, title }) => {
      const option = element("option", "", title);
      option.value = name;
      return option;
    });
    byId("sample").append(...choices);
    byId("open-format").append(...formats.map((name) => element("option", "", name)));
  }

  /** The samples as cards, each with a small waterfall. `compare([one, two])` shows two of them on one time axis. */
  setCards(cards, compare) {
    const pair = cards.filter(({ name }) => PAIR.includes(name));
    const single = cards.filter(({ name }) => pair.length < 2 || !PAIR.includes(name));
    const buttons = single.map((card) => this.#card(card.name, card.title, [card], () => this.open({ sample: card.name })));
    if (pair.length === 2)
      buttons.push(this.#card("compare", "Two answers on one time axis: does the verdict come earlier?", pair, () => compare(PAIR)));
    byId("samples").replaceChildren(...buttons);
  }

  #card(name, title, drawn, act) {
    const drawings = drawn.map(({ bars }) => drawing(bars));
    const button = element("button", "card", element("span", "drawings", ...drawings), element("b", "mono", name), element("span", "", title));
    button.type = "button";
    button.addEventListener("click", act);
    return button;
  }

  ask(field) {
    if (field === "open-url" && byId("url").hidden) return;
    this.#say("");
    byId("open-form").reset(); // also the options: they were for another text
    byId("open-url-field").hidden = field !== "open-url";
    byId("open-text-field").hidden = field !== "open-text";
    setText(byId("open-head"), field === "open-url" ? "Watch a URL" : "Paste text");
    this.dialog.showModal();
    byId(field).focus();
  }

  choose() {
    byId("chooser").click();
  }

  #say(words) {
    const line = byId("open-wrong");
    setText(line, words);
    line.hidden = !words;
  }

  #options() {
    const cut = Number(byId("open-cut").value);
    return {
      kind: byId("open-kind").value || null,
      format: byId("open-format").value || null,
      cut: Number.isInteger(cut) && cut > 0 ? cut : null,
      extract: byId("open-extract").checked,
      repair: byId("open-repair").value || null,
    };
  }

  #submit(event) {
    const text = byId("open-text").value;
    const url = byId("open-url").value.trim();
    if (!text.trim() && !url) {
      event.preventDefault();
      this.#say(byId("open-url-field").hidden ? "Paste some text." : `Give a URL, such as ${byId("open-url").placeholder}.`);
    } else this.open(url ? { url, ...this.#options() } : { text, ...this.#options() });
  }

  #sample(select) {
    const sample = select.value;
    select.value = "";
    select.blur(); // so that Space plays
    if (sample) this.open({ sample });
  }

  #chosen(chooser) {
    const [file] = chooser.files;
    if (file) this.#file(file);
    chooser.value = "";
  }

  #file(file) {
    if (file.size > this.#most)
      this.complain(`${file.name} has ${bytes(file.size)}; the studio reads files of up to ${bytes(this.#most)}.`);
    else this.open({ file });
  }

  #pasted(event) {
    if (event.target.closest("input, textarea, select, dialog")) return;
    const text = event.clipboardData.getData("text/plain");
    if (text.trim()) this.open({ text });
  }

  #listenForDrops() {
    const veil = byId("drop");
    const hasFile = (event) => event.dataTransfer?.types.includes("Files") || event.dataTransfer?.types.includes("text/plain");
    const leave = () => {
      this.#depth = 0;
      veil.hidden = true;
    };
    document.addEventListener("dragenter", (event) => {
      if (!hasFile(event)) return;
      this.#depth += 1;
      veil.hidden = byId("schema-dialog").open;
    });
    document.addEventListener("dragleave", () => {
      this.#depth -= 1;
      if (this.#depth <= 0) leave();
    });
    document.addEventListener("dragover", (event) => hasFile(event) && event.preventDefault());
    document.addEventListener("drop", (event) => {
      leave();
      if (!hasFile(event)) return;
      event.preventDefault();
      const [file] = event.dataTransfer.files;
      if (byId("schema-dialog").open) {
        if (file) this.schemaFile(file);
        return;
      }
      if (this.dialog.open) this.dialog.close();
      if (file) this.#file(file);
      else {
        const text = event.dataTransfer.getData("text/plain");
        if (text.trim()) this.open({ text });
      }
    });
  }
}

// The bars of a waterfall as a picture: where a field was first seen, and where it was complete.
function drawing(bars) {
  const picture = svg("svg", { viewBox: `0 0 100 ${Math.max(bars.length, 1) * BAR * 2}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const [index, [first, end, isComplete]] of bars.entries()) {
    const y = index * BAR * 2 + BAR / 2;
    picture.append(svg("rect", { class: "grow", x: first * 98, y, width: Math.max((end - first) * 98, 0.1), height: BAR }));
    picture.append(svg("rect", { class: isComplete ? "done" : "cut", x: end * 98, y, width: LEAST, height: BAR }));
  }
  return picture;
}

function svg(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
