// The session document, kept up to date by patches. EventSource itself reconnects and says what it has seen last.

import { streamAddress } from "./api.js";
import { apply } from "./patch.js";
import { follow } from "./server.js";

/**
 * Watch a session. `changed(document, members)` names the members that are new, or null for all of them;
 * `connected(is)` tells about the connection; `refused()` says that the server does not give it any more.
 * Returns what ends it.
 */
export function watch(id, { changed, connected, refused }) {
  let source = null;
  let document = null;
  let retry = 0;

  const begin = () => {
    source = follow(streamAddress(id));
    source.addEventListener("open", () => connected(true));
    source.addEventListener("patch", (event) => {
      let operations;
      try {
        operations = JSON.parse(event.data);
        document = apply(document, operations);
      } catch {
        again(); // a patch that does not fit: the whole document, please
        return;
      }
      changed(document, members(operations));
    });
    source.addEventListener("error", () => {
      connected(false);
      if (source.readyState === EventSource.CLOSED) refused();
    });
  };
  const again = () => {
    source.close();
    retry = setTimeout(begin, 1000);
  };

  begin();
  return () => {
    clearTimeout(retry);
    source.close();
  };
}

function members(operations) {
  const names = new Set(operations.map((operation) => operation.path.split("/", 2)[1]));
  return names.has(undefined) ? null : names;
}
