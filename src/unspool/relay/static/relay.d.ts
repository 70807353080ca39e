/** One operation of JSON Patch (RFC 6902), or `append`, which adds text to the end of a string. */
export type Operation =
  | { op: "add" | "replace" | "test"; path: string; value: unknown }
  | { op: "append"; path: string; value: string }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; path: string; from: string };

/** A patch that does not fit its document. */
export class PatchError extends Error {
  constructor(reason: string, index: number, pointer?: string);
  /** The number of the operation. */
  readonly index: number;
  readonly pointer: string | undefined;
}

/**
 * Return the document after the operations. The document itself never changes. The new one shares everything that did
 * not change, so `===` tells what did.
 */
export function apply<T = unknown>(document: unknown, operations: readonly Operation[]): T;

/** A server-sent event. `data` is null if the event only has an id. */
export interface StreamEvent {
  readonly type: string;
  readonly id: string | null;
  readonly data: string | null;
}

/** Reads server-sent events from text that is cut anywhere. */
export class EventReader {
  /** The last `retry` of the server, in milliseconds; null without one. */
  retry: number | null;
  /** The id of the last event. */
  lastId: string | null;
  /** Return the events that this text completes. */
  read(text: string): StreamEvent[];
}

/** How a stream has ended. */
export type EndStatus = "done" | "error" | "cancelled" | "lost";

/** The end of a stream. The publisher may have added more fields. */
export interface End {
  readonly status: EndStatus;
  readonly [field: string]: unknown;
}

/** What a stream shows. A view never changes. */
export interface View<T = unknown> {
  /** The document so far; undefined before the first snapshot. */
  readonly document: T | undefined;
  /** Null before the first snapshot, and where the stream ended out of sight. */
  readonly status: "open" | EndStatus | null;
  /** The place in the stream. Pass it as `after`, together with the view, to go on there. */
  readonly cursor: string | null;
  readonly connection: "connecting" | "open" | "waiting" | "closed";
  /** The writer is gone, and no other one has taken over yet. */
  readonly isStalled: boolean;
  /** The end, if the stream has ended. */
  readonly end: End | null;
  /** Why the stream cannot be followed: it is gone (410), or the server refuses (401, 403, ...). */
  readonly error: { readonly status: number; readonly message: string } | null;
}

/** The view before the first event. */
export const BLANK: View<never>;

/** Return the view after an event of the stream. Throws where an event does not fit. */
export function advance<T = unknown>(view: View<T>, event: StreamEvent): View<T>;

export interface Settings<T = unknown> {
  /** Headers of every request, or a function that returns them. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** As for `fetch`; "same-origin" unless given. */
  credentials?: RequestCredentials;
  /** A view that was kept: the stream goes on after it. */
  view?: View<T>;
  /** Ends following, as `close` does. */
  signal?: AbortSignal;
  /** Milliseconds without a byte after which the connection counts as lost; 45,000 unless given. */
  silence?: number;
  /** Used in place of the global `fetch`. */
  fetch?: typeof fetch;
}

/** A stream that is followed. It has the methods that React's `useSyncExternalStore` takes. */
export class Stream<T = unknown> {
  constructor(url: string | URL, settings?: Settings<T>);
  /** The newest view. */
  readonly view: View<T>;
  /** Resolves with the last view: the stream has ended, is gone, was refused, or was closed. Never rejects. */
  readonly ended: Promise<View<T>>;
  /** Return the newest view; the same object until something changes. */
  getSnapshot(): View<T>;
  /** Call a function after each change, with the new view. Return the function that ends this. */
  subscribe(listener: (view: View<T>) => void): () => void;
  /** Stop following. The stream itself goes on: leaving is not cancelling. */
  close(): void;
}

/** Follow the stream at an address. */
export function follow<T = unknown>(url: string | URL, settings?: Settings<T>): Stream<T>;
