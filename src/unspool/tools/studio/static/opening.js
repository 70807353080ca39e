// What is opened: a sample, pasted text, a file (chosen, or dropped anywhere), a URL.

import { byId, bytes, element, setText } from "./dom.js";

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
  setInfo({ samples, formats, limits }) {
    this.#most = limits.bytes;
    const choices = samples.map(({ name, title, kind }) => {
      const option = element("option", "", kind ? `${title} (${kind})` : title);
      option.value = name;
      return option;
    });
    byId("sample").append(...choices);
    const buttons = samples.map(({ name, title }) => {
      const button = element("button", "", element("b", "mono", name), element("span", "", title));
      button.type = "button";
      button.addEventListener("click", () => this.open({ sample: name }));
      return button;
    });
    byId("samples").append(...buttons);
    byId("open-format").append(...formats.map((name) => element("option", "", name)));
  }

  ask(field) {
    this.#say("");
    byId("open-form").reset(); // also the options: they were for another text
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
      this.#say("Paste some text, or give a URL.");
    } else if (text.trim() && url) {
      event.preventDefault();
      this.#say("Either the text or the URL, please.");
    } else this.open(url ? { url, ...this.#options() } : { text, ...this.#options() });
  }

  #sample(select) {
    const sample = select.value;
    select.value = "";
    if (sample) this.open({ sample });
  }

  #chosen(chooser) {
    const [file] = chooser.files;
    if (file) this.#file(file);
    chooser.value = "";
  }

  #file(file) {
    if (file.size > this.#most) this.complain(`${file.name} has ${bytes(file.size)}; ${bytes(this.#most)} is the most.`);
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
