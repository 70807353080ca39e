// Asking for views: one request at a time, and of the questions that came up meanwhile only the newest is asked.

import { view } from "./api.js";

const PATIENCE = 250; // ms: a slower request is abandoned for a newer one

export class Viewing {
  #session = null;
  #waiting = null;
  #control = null;
  #begun = 0;

  /** `answered(view, question)` and `failed(failure)` are callbacks. */
  constructor({ answered, failed }) {
    this.answered = answered;
    this.failed = failed;
  }

  get isBusy() {
    return this.#control !== null;
  }

  /** Views of this session from now on; null for none. */
  use(session) {
    this.#control?.abort();
    this.#control = null;
    this.#waiting = null;
    this.#session = session;
  }

  ask(question) {
    if (this.#session === null) return;
    this.#waiting = question;
    if (this.#control === null) this.#next();
    else if (performance.now() - this.#begun > PATIENCE) {
      this.#control.abort();
      this.#next();
    }
  }

  async #next() {
    const question = this.#waiting;
    const control = new AbortController();
    this.#waiting = null;
    this.#control = control;
    this.#begun = performance.now();
    let answer = null;
    let failure = null;
    try {
      answer = await view(this.#session, question, control.signal);
    } catch (error) {
      failure = error;
    }
    if (this.#control !== control) return; // another one was asked in its place
    this.#control = null;
    if (answer !== null) this.answered(answer, question);
    else if (failure.name !== "AbortError") this.failed(failure);
    if (this.#waiting !== null && this.#control === null) this.#next();
  }
}
