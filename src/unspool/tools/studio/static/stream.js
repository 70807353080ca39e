// The session document, kept up to date by the client of the relay: it reconnects, and says what it has seen last.

import { streamAddress } from "./api.js";
import { follow } from "./relay.js";
import { send } from "./server.js";

const CROWDED = 429;

/**
 * Watch a session. `changed(document, members)` names the members that are new, or null for all of them;
 * `connected(is)` tells about the connection; `refused()` says that the server does not give it any more.
 * Returns what ends it.
 */
export function watch(id, { changed, connected, refused }) {
  let document;
  let isOver = false;

  const show = (view) => {
    if (view.connection === "open") connected(true);
    else if (view.connection !== "connecting" && view.end === null) connected(false);
    if (view.document === document) return;
    const before = document;
    document = view.document;
    changed(document, before === undefined ? null : members(before, document));
  };
  const end = () => {
    if (isOver) return;
    stop();
    refused();
  };
  const asked = async (address, options) => {
    const answer = await send(address, options);
    if (answer.status === CROWDED) {
      connected(false);
      end(); // the client would ask again
    }
    return answer;
  };
  const stream = follow(streamAddress(id), { fetch: asked });
  const leave = stream.subscribe((view) => {
    show(view);
    if (view.connection === "closed") end();
  });
  const stop = () => {
    isOver = true;
    leave();
    stream.close();
  };
  return stop;
}

// Documents share what did not change.
const members = (old, document) => new Set(Object.keys(document).filter((name) => document[name] !== old[name]));
