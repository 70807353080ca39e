// The session and the step in the address, so that a page that is loaded again shows what it showed.

const LATER = 200; // ms: browsers allow few changes of the address in a second
let timer = 0;
let wanted = "";
let written = location.hash;

export function recall() {
  const values = new URLSearchParams(location.hash.slice(1));
  const step = Number.parseInt(values.get("step") ?? "", 10);
  return { session: values.get("session"), step: Number.isInteger(step) && step >= 0 ? step : null };
}

/** With no step it is the end that is shown, wherever that will be. */
export function remember(session, step) {
  const values = new URLSearchParams();
  if (session !== null) values.set("session", session);
  if (session !== null && step !== null) values.set("step", String(step));
  wanted = values.size ? `#${values}` : location.pathname;
  if (session !== recall().session) write(); // a session is written down at once, its steps now and then
  timer ||= setTimeout(write, LATER);
}

function write() {
  clearTimeout(timer);
  timer = 0;
  if (location.hash !== written || wanted === written) return; // changed by someone who has not been heard yet
  history.replaceState(null, "", wanted);
  written = location.hash;
}

// Someone changed the address: that counts, and what was to be written does not.
window.addEventListener("hashchange", () => {
  clearTimeout(timer);
  timer = 0;
  written = location.hash;
});
