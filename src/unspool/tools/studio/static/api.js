// The requests. A request that the server rejects throws a Failure with its message.

import * as server from "./server.js";

export class Failure extends Error {
  constructor(words, status) {
    super(words);
    this.status = status;
  }
}

const SENDING = { "X-Unspool": "1" };

async function request(address, options = {}) {
  let response;
  try {
    response = await server.send(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(server.SILENCE, 0);
  }
  if (response.status === 204) return null;
  let answer = null;
  try {
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  if (!response.ok || answer === null) {
    const words = typeof answer?.error === "string" ? answer.error : `The server answered ${response.status}.`;
    throw new Failure(words, response.status);
  }
  return answer;
}

const change = (method, address, body) =>
  request(address, { method, headers: { ...SENDING, "Content-Type": "application/json" }, body: JSON.stringify(body) });

const at = (id, rest = "") => `/api/sessions/${encodeURIComponent(id)}${rest}`;

function query(values) {
  const filled = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return new URLSearchParams(filled.map(([name, value]) => [name, String(value)])).toString();
}

export const info = () => request("/api/info");

/** A new session from {text} or {sample} or {url} and the options. */
export const open = (source) => change("POST", "/api/sessions", source);

/** A new session from a file, byte for byte. */
export const upload = (file, options) =>
  request(`/api/sessions?${query({ ...options, title: file.name })}`, {
    method: "POST",
    headers: { ...SENDING, "Content-Type": "application/octet-stream" },
    body: file,
  });

export const setSchema = (id, schema) => change("PUT", at(id, "/schema"), { schema });

/** The sessions that the server has. */
export const sessions = () => request("/api/sessions");

/** The samples as cards. */
export const samples = () => request("/api/samples");

/** When each field was complete in two sessions. */
export const compare = (one, two) => request(at(one, `/compare/${encodeURIComponent(two)}`));

/** The waterfall of the fields that a filter selects, and of unfolded arrays. */
export const waterfall = (id, question) => request(at(id, `/waterfall?${query(question)}`));

/** The whole text of a selected value. */
export const value = (id, question) => request(at(id, `/value?${query(question)}`));

export const close = (id) => change("DELETE", at(id));

export const view = (id, question, signal) => request(at(id, `/view?${query(question)}`), { signal });

export const streamAddress = (id) => at(id, "/stream");
