// Follows a stream of `relay.sse` in a browser, or in Node 20 and newer. No dependencies.
//
//   apply        (document, patch) -> document        JSON Patch (RFC 6902) with one more operation, "append"
//   EventReader  text in any pieces -> events         server-sent events
//   advance      (view, event) -> view                what a stream shows
//   follow       url -> Stream                        the connection: reconnects, resumes, ends
//
// Documents and views never change. A patch copies the containers on the way to a change; everything else stays the same
// object. So React and others can compare with ===, and render only what changed.

// ---- documents ----------------------------------------------------------------------------------------------------------

const INDEX = /^(?:0|[1-9][0-9]{0,15})$/;
const BAD_ESCAPE = /~(?![01])/;

/** A patch that does not fit its document. `index` is the number of the operation. */
export class PatchError extends Error {
  constructor(reason, index, pointer) {
    super(`operation ${index}${pointer === undefined ? "" : ` at "${pointer}"`}: ${reason}`);
    this.name = "PatchError";
    this.index = index;
    this.pointer = pointer;
  }
}

const isContainer = (value) => typeof value === "object" && value !== null;

// A member that is called __proto__ is a member like any other.
function put(container, step, value) {
  Object.defineProperty(container, step, { value, writable: true, enumerable: true, configurable: true });
}

function equal(one, two) {
  if (one === two) return true;
  if (!isContainer(one) || !isContainer(two) || Array.isArray(one) !== Array.isArray(two)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(two).length && keys.every((key) => Object.hasOwn(two, key) && equal(one[key], two[key]));
}

// A document while a patch is applied. It writes to the containers that it has made itself, and copies all others.
class Draft {
  constructor(document) {
    this.document = document;
    this.index = 0;
    this.owned = new Set();
  }

  run(operation) {
    if (!isContainer(operation)) throw this.error("an operation must be an object");
    const { op, path } = operation;
    const steps = this.steps(path, "path");
    switch (op) {
      case "append": {
        const text = this.find(steps, path);
        const added = this.value(operation);
        if (typeof text !== "string" || typeof added !== "string") throw this.error("append needs two strings", path);
        return this.set(steps, path, text + added, false);
      }
      case "add":
        return this.set(steps, path, this.value(operation), true);
      case "replace":
        return this.set(steps, path, this.value(operation), false);
      case "remove":
        return this.remove(steps, path);
      case "move": {
        const from = this.steps(operation.from, "from");
        if (path.startsWith(`${operation.from}/`)) throw this.error("cannot move a value into itself", path);
        const value = this.find(from, operation.from);
        if (path === operation.from) return undefined;
        this.remove(from, operation.from);
        return this.set(steps, path, value, true);
      }
      case "copy": {
        const value = this.find(this.steps(operation.from, "from"), operation.from);
        this.owned.clear(); // the value is in two places from now on
        return this.set(steps, path, value, true);
      }
      case "test":
        if (!equal(this.find(steps, path), this.value(operation))) throw this.error("the test failed", path);
        return undefined;
      default:
        throw this.error("unknown operation", path);
    }
  }

  steps(pointer, member) {
    if (typeof pointer !== "string") throw this.error(`"${member}" is missing or not a string`);
    if (pointer === "") return [];
    if (!pointer.startsWith("/")) throw this.error('a pointer must be empty or start with "/"', pointer);
    if (BAD_ESCAPE.test(pointer)) throw this.error('"~" must be followed by 0 or 1', pointer);
    return pointer.slice(1).split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  }

  value(operation) {
    if (!Object.hasOwn(operation, "value")) throw this.error('"value" is missing', operation.path);
    return operation.value;
  }

  find(steps, pointer) {
    return steps.reduce((value, step) => value[this.existing(value, step, pointer)], this.document);
  }

  set(steps, pointer, value, isNew) {
    if (steps.length === 0) {
      this.document = value;
      return;
    }
    const container = this.own(steps.slice(0, -1), pointer);
    const step = this.existing(container, steps.at(-1), pointer, isNew);
    if (isNew && Array.isArray(container)) container.splice(step, 0, value);
    else put(container, step, value);
  }

  remove(steps, pointer) {
    if (steps.length === 0) throw this.error("cannot remove the whole document", pointer);
    const container = this.own(steps.slice(0, -1), pointer);
    const step = this.existing(container, steps.at(-1), pointer);
    if (Array.isArray(container)) container.splice(step, 1);
    else delete container[step];
  }

  // Return the container at the end of these steps, copied unless it is ours, and so all containers around it.
  own(steps, pointer) {
    let container = (this.document = this.copied(this.document));
    for (const token of steps) {
      const step = this.existing(container, token, pointer);
      const inner = this.copied(container[step]);
      put(container, step, inner);
      container = inner;
    }
    return container;
  }

  copied(value) {
    if (!isContainer(value) || this.owned.has(value)) return value;
    const copy = Array.isArray(value) ? value.slice() : { ...value };
    this.owned.add(copy);
    return copy;
  }

  // Return the key or index that a step means: of an existing value, or with `orNext` of a new one.
  existing(container, step, pointer, orNext = false) {
    if (!isContainer(container)) throw this.error("not an object or an array", pointer);
    if (!Array.isArray(container)) {
      if (orNext || Object.hasOwn(container, step)) return step;
      throw this.error("no such member", pointer);
    }
    const index = step === "-" ? container.length : INDEX.test(step) ? Number(step) : -1;
    if (index < 0) throw this.error("invalid array index", pointer);
    if (index < container.length || (orNext && index === container.length)) return index;
    throw this.error("no such item", pointer);
  }

  error(reason, pointer) {
    return new PatchError(reason, this.index, pointer);
  }
}

/** Return the document after the operations. The document itself never changes; both share what did not change. */
export function apply(document, operations) {
  if (!Array.isArray(operations)) throw new PatchError("a patch must be an array of operations", 0);
  const draft = new Draft(document);
  for (const operation of operations) {
    draft.run(operation);
    draft.index += 1;
  }
  return draft.document;
}

// ---- server-sent events -------------------------------------------------------------------------------------------------

const MAX_EVENT = 64 * 1024 * 1024; // characters

/** Reads server-sent events from text that is cut anywhere. */
export class EventReader {
  #rest = ""; // an unfinished line
  #skipsNewline = false;
  #type = "";
  #id = null;
  #data = [];
  #size = 0;
  #isFirst = true;

  /** The last `retry` of the server, in milliseconds; null without one. */
  retry = null;
  /** The id of the last event. */
  lastId = null;

  /** Return the events that this text completes, each as `{type, id, data}`. `data` is null if an event only has an id. */
  read(text) {
    if (text === "") return [];
    const lines = (this.#skipsNewline && text[0] === "\n" ? text.slice(1) : text).split(/\r\n|\n|\r/);
    this.#skipsNewline = text.endsWith("\r");
    const events = [];
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop();
    if (this.#rest.length + this.#size > MAX_EVENT) throw new Error("an event of the server is too long");
    for (const line of lines) {
      const event = this.#line(line);
      if (event !== null) events.push(event);
    }
    return events;
  }

  #line(line) {
    if (this.#isFirst) {
      this.#isFirst = false;
      if (line.startsWith("\ufeff")) line = line.slice(1);
    }
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null; // a comment
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "data") {
      this.#data.push(value);
      this.#size += value.length;
    } else if (name === "event") this.#type = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^[0-9]{1,9}$/.test(value)) this.retry = Number(value);
    return null;
  }

  #dispatch() {
    if (this.#id !== null) this.lastId = this.#id;
    const event = { type: this.#type || "message", id: this.lastId, data: this.#data.length ? this.#data.join("\n") : null };
    const isNews = event.data !== null || this.#id !== null;
    this.#type = "";
    this.#id = null;
    this.#data = [];
    this.#size = 0;
    return isNews ? event : null;
  }
}

// ---- views --------------------------------------------------------------------------------------------------------------

/** The view before the first event. */
export const BLANK = Object.freeze({
  document: undefined,
  status: null,
  cursor: null,
  connection: "connecting",
  isStalled: false,
  end: null,
  error: null,
});

/** Return the view after an event of the stream. Throws where an event does not fit. */
export function advance(view, event) {
  const cursor = event.id ?? view.cursor;
  if (event.data === null) return cursor === view.cursor ? view : Object.freeze({ ...view, cursor });
  const next = { ...view, cursor };
  switch (event.type) {
    case "snapshot": {
      const { document, status } = JSON.parse(event.data);
      Object.assign(next, { document, status: status ?? "open", isStalled: false, end: null });
      break;
    }
    case "patch":
      if (view.status === null) throw new Error("a patch before the first snapshot");
      Object.assign(next, { document: apply(view.document, JSON.parse(event.data)), isStalled: false });
      break;
    case "stalled":
      next.isStalled = true;
      break;
    case "end": {
      const end = JSON.parse(event.data);
      Object.assign(next, { status: end.status, isStalled: false, end });
      break;
    }
    default: // an event of a later version
      return view;
  }
  return Object.freeze(next);
}

// ---- the connection -----------------------------------------------------------------------------------------------------

const FINAL = new Set([400, 401, 403, 404, 405, 410, 415, 422]);
const SILENCE = 45_000; // milliseconds: three comments of the server
const LONGEST_WAIT = 30_000;
const FIRST_WAIT = 1_000;
const SHORT_WAIT = 250;

/** A stream that is followed. It has the methods that React's `useSyncExternalStore` takes. */
export class Stream {
  #url;
  #settings;
  #view = BLANK;
  #listeners = new Set();
  #stop = new AbortController();
  #wake = null;
  #failures = 0;
  #retry = FIRST_WAIT;
  #resolve;

  constructor(url, settings = {}) {
    this.#url = String(url);
    this.#settings = settings;
    if (settings.view != null) this.#view = Object.freeze({ ...BLANK, ...settings.view, connection: "connecting" });
    /** Resolves with the last view: the stream has ended, is gone, was refused, or was closed. Never rejects. */
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
    this.subscribe = this.subscribe.bind(this);
    this.getSnapshot = this.getSnapshot.bind(this);
    this.close = this.close.bind(this);
    settings.signal?.addEventListener("abort", this.close, { once: true });
    if (settings.signal?.aborted) this.close();
    else this.#run();
  }

  /** The newest view. */
  get view() {
    return this.#view;
  }

  /** Return the newest view; the same object until something changes. */
  getSnapshot() {
    return this.#view;
  }

  /** Call a function after each change, with the new view. Return the function that ends this. */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stop following. The stream itself goes on: leaving is not cancelling. */
  close() {
    this.#finish({});
  }

  async #run() {
    const hurry = () => this.#wake?.();
    globalThis.addEventListener?.("online", hurry);
    while (!this.#stop.signal.aborted) {
      let least = 0;
      let most = SHORT_WAIT; // the server has ended the response, and the stream goes on in the next one
      this.#show({ connection: "connecting" });
      try {
        await this.#connect();
      } catch (error) {
        least = error.retryAfter ?? 0;
        most = this.#retry;
      }
      if (this.#stop.signal.aborted) break;
      this.#show({ connection: "waiting" });
      most = Math.min(LONGEST_WAIT, most * 2 ** Math.min(this.#failures, 10));
      this.#failures += 1;
      await this.#sleep(least + Math.random() * most); // random, so that a thousand clients do not come back at once
    }
    globalThis.removeEventListener?.("online", hurry);
  }

  // Read one response to its end. However it ends, the next one goes on after the last event.
  async #connect() {
    const attempt = new AbortController();
    const giveUp = () => attempt.abort();
    this.#stop.signal.addEventListener("abort", giveUp, { once: true });
    const silence = this.#settings.silence ?? SILENCE;
    let watchdog = setTimeout(giveUp, silence);
    try {
      const { fetch = globalThis.fetch, headers, credentials = "same-origin" } = this.#settings;
      const response = await fetch(this.#address(), {
        headers: { Accept: "text/event-stream", ...(typeof headers === "function" ? await headers() : headers) },
        credentials,
        cache: "no-store",
        signal: attempt.signal,
      });
      if (!this.#isStream(response)) return;
      const events = new EventReader();
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      this.#show({ connection: "open", error: null });
      for (;;) {
        const { done, value } = await reader.read();
        clearTimeout(watchdog);
        if (done || this.#stop.signal.aborted) return;
        watchdog = setTimeout(giveUp, silence);
        const news = events.read(decoder.decode(value, { stream: true }));
        if (events.retry !== null) this.#retry = events.retry;
        this.#take(news);
      }
    } finally {
      clearTimeout(watchdog);
      this.#stop.signal.removeEventListener("abort", giveUp);
      attempt.abort();
    }
  }

  #address() {
    const { cursor } = this.#view;
    if (cursor === null) return this.#url;
    const [address] = this.#url.split("#", 1);
    return `${address}${address.includes("?") ? "&" : "?"}after=${encodeURIComponent(cursor)}`;
  }

  // Tell whether the response is a stream. Where the answer is final, nothing is asked again.
  #isStream(response) {
    const { status } = response;
    const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (status === 200 && isEvents) return true;
    if (status === 204) this.#finish(this.#view.status === "open" ? { status: null } : {});
    else if (status === 410) this.#finish({ error: { status, message: "the stream is gone" } });
    else if (status === 200 || FINAL.has(status)) {
      const message = status === 200 ? "the answer is not a stream of events" : `the server answered with status ${status}`;
      this.#finish({ error: { status, message } });
    } else {
      const seconds = Number(response.headers.get("retry-after"));
      const error = new Error(`the server answered with status ${status}`);
      error.retryAfter = seconds > 0 ? Math.min(seconds * 1000, LONGEST_WAIT) : 0;
      throw error;
    }
    return false;
  }

  // Take all events of one piece, and tell the listeners once.
  #take(events) {
    if (events.length === 0) return;
    let view = this.#view;
    try {
      for (const event of events) view = advance(view, event);
    } catch (error) {
      this.#show({ ...view, cursor: null }); // the whole document, please
      throw error;
    }
    this.#failures = 0;
    if (view.end === null) this.#show(view);
    else this.#finish(view);
  }

  #finish(changes) {
    if (this.#view.connection === "closed") return;
    this.#show({ ...changes, connection: "closed" });
    this.#stop.abort();
    this.#wake?.();
    this.#resolve(this.#view);
  }

  #show(changes) {
    const view = { ...this.#view, ...changes };
    if (Object.keys(view).every((name) => view[name] === this.#view[name])) return;
    this.#view = Object.freeze(view);
    for (const listener of [...this.#listeners]) {
      try {
        listener(this.#view);
      } catch (error) {
        globalThis.reportError?.(error); // the listener is broken, not the stream
      }
    }
  }

  #sleep(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    }).finally(() => (this.#wake = null));
  }
}

/** Follow the stream at an address. */
export function follow(url, settings) {
  return new Stream(url, settings);
}
