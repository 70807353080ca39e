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

/** Send a request, and return the Response; its body may still grow. */
export async function send(address, { signal, body = "", ...options } = {}) {
  const bytes = await new Blob([body]).arrayBuffer();
  signal?.throwIfAborted();
  return new Promise((done, refuse) => {
    let type = "";
    let pieces = null;
    const fail = (reason) => {
      refuse(reason);
      pieces?.error(reason);
    };
    const leave = ask(address, { ...options, body: bytes }, (kind, value) => {
      if (kind === "type") type = value;
      else if (kind === "status") {
        const stream = new ReadableStream({ start: (control) => (pieces = control), cancel: () => leave() });
        const content = [101, 204, 205, 304].includes(value) ? null : stream;
        done(new Response(content, { status: value, headers: { "Content-Type": type } }));
      } else if (kind === "piece") pieces.enqueue(value);
      else if (kind === "failure") {
        console.error(value); // the page says only that there is no answer
        fail(new Error(value));
      } else pieces.close();
    });
    signal?.addEventListener("abort", () => {
      leave();
      fail(signal.reason);
    });
  });
}

// The files are kept for the next visit, so that it needs no network.
if ("serviceWorker" in navigator)
  navigator.serviceWorker
    .register(new URL("../offline.js", import.meta.url))
    .then(() => navigator.serviceWorker.ready)
    .then(() => (document.documentElement.dataset.offline = "ready"))
    .catch(() => {}); // as in a private window: the page works, and loads its files again next time
