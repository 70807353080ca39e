// The session document, kept up to date by patches. EventSource itself reconnects and says what it has seen last.

import { streamAddress } from "./api.js";
import { apply } from "./patch.js";

/**
 * Watch a session. `changed(document, members)` names the members that are new, or null for all of them;
 * `connected(is)` tells about the connection; `gone()` says that the server knows the session no more.
 * Returns what ends it.
 */
export function watch(id, { changed, connected, gone }) {
  let source = null;
  let document = null;
  let retry = 0;

  const begin = () => {
    source = new EventSource(streamAddress(id));
    source.addEventListener("open", () => connected(true));
    source.addEventListener("patch", (event) => {
      try {
        const operations = JSON.parse(event.data);
        document = apply(document, operations);
        changed(document, members(operations));
      } catch (error) {
        again(); // a patch that does not fit: the whole document, please
      }
    });
    source.addEventListener("error", () => {
      connected(false);
      if (source.readyState === EventSource.CLOSED) gone();
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
