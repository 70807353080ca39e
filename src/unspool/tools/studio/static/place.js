// The session and the step in the address, so that a page that is loaded again shows what it showed, and so that the
// browser's back leads to the stream before.

const LATER = 200; // ms: browsers allow few changes of the address in a second
let timer = 0;
let wanted = "";
let written = location.hash;

export function recall() {
  const values = new URLSearchParams(location.hash.slice(1));
  const step = Number.parseInt(values.get("step") ?? "", 10);
  return { session: values.get("session"), step: Number.isInteger(step) && step >= 0 ? step : null, other: values.get("with") };
}

/** With no step it is the end that is shown, wherever that will be. `other` is the stream to compare with. */
export function remember(session, step, other = null) {
  const values = new URLSearchParams();
  if (session !== null) values.set("session", session);
  if (session !== null && step !== null) values.set("step", String(step));
  if (session !== null && other !== null) values.set("with", other);
  wanted = values.size ? `#${values}` : location.pathname;
  const before = recall();
  // Another stream is written down at once, as a page of its own; its steps now and then.
  if (session !== before.session || other !== before.other) write(session !== null);
  else timer ||= setTimeout(write, LATER);
}

function write(isNew = false) {
  clearTimeout(timer);
  timer = 0;
  if (location.hash !== written || wanted === written) return; // changed by someone who has not been heard yet
  if (isNew === true) history.pushState(null, "", wanted);
  else history.replaceState(null, "", wanted);
  written = location.hash;
}

// Someone changed the address: that counts, and what was to be written does not.
window.addEventListener("hashchange", () => {
  clearTimeout(timer);
  timer = 0;
  written = location.hash;
});
