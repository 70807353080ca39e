// The transport: HTTP to the server that sent this page. The playground replaces this file: there, Python answers in a worker.

/** Send a request, and return the Response. */
export const send = (address, options) => fetch(address, { cache: "no-store", redirect: "error", ...options });

/** What to say when there is no response. */
export const SILENCE = "The server does not answer. It may have been stopped; start `unspool studio` again.";
