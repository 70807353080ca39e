// The schema of the session: pasted, or dropped as a file.

import { byId, setText } from "./dom.js";

export class SchemaDialog {
  /** `use(schema)` sets it, or none with null; it throws what the server has against it. */
  constructor({ use }) {
    this.use = use;
    this.dialog = byId("schema-dialog");
    byId("schema").addEventListener("click", () => this.ask());
    byId("schema-none").addEventListener("click", () => this.#try(null));
    byId("schema-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#read();
    });
  }

  /** Whether the package jsonschema-rs is there, which some keywords need. */
  setJudge(is) {
    byId("schema-lacks").hidden = is;
  }

  setSession(is) {
    byId("schema").disabled = !is;
  }

  ask() {
    this.#say("");
    this.dialog.showModal();
    byId("schema-text").focus();
  }

  async takeFile(file) {
    byId("schema-text").value = await file.text();
    this.#say("");
  }

  #say(words) {
    const line = byId("schema-wrong");
    setText(line, words);
    line.hidden = !words;
  }

  #read() {
    let schema;
    try {
      schema = JSON.parse(byId("schema-text").value);
    } catch (error) {
      this.#say(`Not JSON: ${error.message}`);
      return;
    }
    if (schema === null || typeof schema !== "object" || Array.isArray(schema)) this.#say("A schema is a JSON object.");
    else this.#try(schema);
  }

  async #try(schema) {
    try {
      await this.use(schema);
    } catch (error) {
      this.#say(error.message);
      return;
    }
    this.dialog.close();
  }
}
