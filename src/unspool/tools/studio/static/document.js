// Which of the documents of JSON lines is shown: the step that completes it is.

import { byId, number, setText } from "./dom.js";

export class DocumentField {
  /** `choose(number)` is called for a document that was chosen; they are counted from 1. */
  constructor({ choose }) {
    this.field = byId("document");
    this.field.addEventListener("change", () => {
      const wanted = Number(this.field.value);
      if (Number.isInteger(wanted) && wanted > 0) choose(wanted);
    });
  }

  show({ number: shown, total }) {
    byId("document-field").hidden = total < 2;
    this.field.max = String(total);
    setText(byId("document-count"), `of ${number(total)}`);
    if (document.activeElement !== this.field || Number(this.field.value) > total) this.field.value = String(shown);
  }

  clear() {
    byId("document-field").hidden = true;
  }
}
