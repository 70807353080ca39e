// The transport of the playground: Python answers in a worker of this page. Nothing leaves the page.

import { complain, say } from "./status.js";

const worker = new Worker(new URL("../worker.js", import.meta.url), { type: "module" });
const answers = new Map(); // by the number of the request: what takes its messages
let last = 0;
let broken = null;

/** What to say when there is no response. */
export let SILENCE = "Python does not answer in this page. Load the page again; it needs a browser with WebAssembly.";

worker.addEventListener("message", ({ data: { number, kind, value } }) => {
  if (kind === "ready") {
    say("ready: Python runs in this page, and nothing is uploaded");
    document.documentElement.dataset.python = value;
  } else if (kind === "broken") fail(value);
  else answers.get(number)?.(kind, value);
});
worker.addEventListener("error", (event) => fail(event.message || "the worker cannot be loaded"));

say("loading Python, 14 MB, once …");

function fail(reason) {
  broken = new Error(reason);
  SILENCE = `Python could not be started: ${reason}`;
  complain(SILENCE);
  for (const answer of answers.values()) answer("failure", reason);
}

/** Send a request; `take(kind, value)` gets the messages of its answer. Returns what cancels it. */
function ask(address, { method = "GET", headers = {}, body = new ArrayBuffer(0) }, take) {
  const number = (last += 1);
  answers.set(number, (kind, value) => {
    if (kind === "end" || kind === "failure") answers.delete(number);
    take(kind, value);
  });
  if (broken !== null) queueMicrotask(() => answers.get(number)?.("failure", broken.message));
  else worker.postMessage({ number, method, address, headers, body });
  return () => {
    answers.delete(number);
    worker.postMessage({ number, leave: true });
  };
}

/** Send a request, and return the Response. */
export async function send(address, { signal, body = "", ...options } = {}) {
  const bytes = await new Blob([body]).arrayBuffer();
  signal?.throwIfAborted();
  return new Promise((done, refuse) => {
    const pieces = [];
    let status = 500;
    const cancel = ask(address, { ...options, body: bytes }, (kind, value) => {
      if (kind === "status") status = value;
      else if (kind === "piece") pieces.push(value);
      else if (kind === "failure") {
        console.error(value); // the page says only that there is no answer
        refuse(new Error(value));
      }
      else done(new Response([101, 204, 205, 304].includes(status) ? null : new Blob(pieces), { status }));
    });
    signal?.addEventListener("abort", () => {
      cancel();
      refuse(signal.reason);
    });
  });
}

/** Follow a stream of server-sent events. Returns an EventTarget that does what an EventSource does. */
export const follow = (address) => new Following(address);

class Following extends EventTarget {
  readyState = EventSource.CONNECTING;
  #cancel = () => {};
  #text = "";
  #lastId = null;
  #decoder = new TextDecoder();
  #retry = 0;
  #isFound = false;

  constructor(address) {
    super();
    this.address = address;
    this.#begin();
  }

  close() {
    this.readyState = EventSource.CLOSED;
    clearTimeout(this.#retry);
    this.#cancel();
  }

  #begin() {
    this.#text = "";
    this.#isFound = false;
    const headers = this.#lastId === null ? {} : { "Last-Event-ID": this.#lastId };
    this.#cancel = ask(this.address, { headers }, (kind, value) => this.#take(kind, value));
  }

  #take(kind, value) {
    if (this.readyState === EventSource.CLOSED) return;
    if (kind === "status") {
      this.#isFound = value === 200;
      if (this.#isFound) this.#tell("open", EventSource.OPEN);
    } else if (kind === "piece") this.#isFound && this.#read(this.#decoder.decode(value, { stream: true }));
    else if (!this.#isFound) this.#tell("error", EventSource.CLOSED);
    else {
      this.#tell("error", EventSource.CONNECTING);
      this.#retry = setTimeout(() => this.#begin(), 1000);
    }
  }

  #tell(name, state) {
    this.readyState = state;
    this.dispatchEvent(new Event(name));
  }

  // The studio writes its events with line feeds, and the data of each on one line.
  #read(text) {
    const events = (this.#text + text).split("\n\n");
    this.#text = events.pop();
    for (const event of events) {
      const fields = new Map(event.split("\n").map((line) => line.match(/^([^:]*):? ?(.*)$/s).slice(1)));
      if (fields.has("id")) this.#lastId = fields.get("id");
      if (fields.has("data"))
        this.dispatchEvent(new MessageEvent(fields.get("event") ?? "message", { data: fields.get("data") }));
    }
  }
}

// The files are kept for the next visit, so that it needs no network.
if ("serviceWorker" in navigator)
  navigator.serviceWorker
    .register(new URL("../offline.js", import.meta.url))
    .then(() => navigator.serviceWorker.ready)
    .then(() => (document.documentElement.dataset.offline = "ready"))
    .catch(() => {}); // as in a private window: the page works, and loads its files again next time
