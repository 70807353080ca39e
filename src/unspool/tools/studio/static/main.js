// The page: which stream is shown, where it comes from, and what the controls that belong to no panel do.

import * as api from "./api.js";
import { Comparison } from "./comparison.js";
import { byId, setAttribute, setText } from "./dom.js";
import { showHeading } from "./heading.js";
import { listen } from "./keyboard.js";
import { Loading } from "./loading.js";
import { Opening } from "./opening.js";
import { Panels } from "./panels.js";
import { recall, remember } from "./place.js";
import { SchemaDialog } from "./schema.js";
import { startSplitters } from "./splitters.js";
import { complain, connected, notice } from "./status.js";
import { watch } from "./stream.js";
import { Streams } from "./streams.js";
import * as theme from "./theme.js";
import { hideTip } from "./tip.js";
import { Transport } from "./transport.js";

const sources = new Map(); // what each session was opened from, so that it can be opened again as another kind
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");
let stop = () => {};
let start = {}; // where to begin: {step} or {plays}, otherwise at the end
let mode = "snapshots";

const transport = new Transport({
  ask: (place) => (comparison.isOn ? comparison.ask(place) : panels.ask(place)),
  isBusy: () => !comparison.isOn && panels.viewing.isBusy,
  passing: (time) => !comparison.isOn && panels.waterfall.isInSeconds && panels.waterfall.setTime(time),
  moved: (isPlaying) => panels.moved(isPlaying),
});
const panels = new Panels({
  transport,
  failed,
  showed: (view) => comparison.isOn || remember(panels.session, transport.isAtEnd ? null : view.step),
});
const loading = new Loading({ ready: opened, complain });
const opening = new Opening({ open: (source) => loading.open(source), complain, schemaFile: (file) => schemas.takeFile(file) });
const schemas = new SchemaDialog({ use: (schema) => api.setSchema(panels.session, schema).then(() => panels.again()) });
const streams = new Streams({ use: (id) => use(id), closed: (next) => (next === null ? leave() : use(next)), compare: compareWith });
const comparison = new Comparison({ transport, closed: () => compareWith(null) });

// The session.

function opened(id, source, isLive) {
  sources.set(id, source);
  use(id, { plays: !isLive && !isCalm.matches, isOpened: true });
}

function use(id, from = {}) {
  stop();
  notice("");
  endComparison();
  start = from;
  panels.use(id);
  remember(id, from.step ?? null);
  document.body.classList.add("has-session");
  schemas.setSession(true);
  streams.show(id);
  stop = watch(id, { changed, connected, refused: () => refused(id) });
}

// A stream does not say why it was refused; a view does.
async function refused(id) {
  try {
    await api.view(id, { step: 0, count: 1, text_count: 1 });
    complain("Too many pages follow this server. Close some of them, and load this one again.");
  } catch (error) {
    if (id === panels.session) failed(error);
  }
}

function changed(known, members) {
  if (comparison.isOn) {
    panels.known = known;
    return;
  }
  const isFirst = panels.known === null;
  const wasAtEnd = isFirst || transport.isAtEnd;
  const has = (name) => members === null || members.has(name);
  panels.know(known, has);
  showHeading(known, sources.get(panels.session) ?? null);
  if (has("kind")) showMode();
  if (has("problem") && known.problem) notice(known.problem);
  if (has("offer") && known.offer === "extract") offerExtraction();
  if (isFirst) {
    panels.begin(start);
    if (start.isOpened && document.querySelector("dialog[open]") === null) byId("scrub").focus(); // so that Space plays
  } else if (wasAtEnd && has("last") && !transport.player.isPlaying) panels.ask({ step: known.last });
  else if (has("schema") || has("flaws") || (panels.view !== null && members === null)) panels.again();
}

function offerExtraction() {
  const source = sources.get(panels.session);
  const words = "This text is not JSON, but there is JSON inside it.";
  if (source === undefined) notice(`${words} Start the studio with --extract to read it.`);
  else notice(words, "Show the JSON inside", () => loading.open({ ...source, kind: null, extract: true }));
}

function failed(failure) {
  if (failure.status === 404) gone();
  else {
    transport.player.pause();
    complain(failure.message);
  }
}

function gone() {
  const wasSeen = panels.known !== null;
  stop();
  panels.viewing.use(null);
  transport.player.pause();
  remember(null, null);
  streams.show(null);
  if (!wasSeen) leave(); // otherwise what was seen stays
  complain("The server no longer has this session: it was restarted, or too many sessions were opened. Open it again.");
}

/** Back to the first screen. */
function leave() {
  stop();
  endComparison();
  panels.use(null);
  schemas.setSession(false);
  remember(null, null);
  streams.show(null);
  byId("strip").hidden = true;
  document.body.classList.remove("has-session", "is-live", "shows-snapshots");
  document.title = "unspool studio";
}

// Two streams.

async function compareWith(other) {
  if (other === null) {
    endComparison();
    streams.show(panels.session);
    remember(panels.session, panels.view?.step ?? null);
    if (panels.known !== null) changed(panels.known, null);
    return;
  }
  try {
    const two = other.sample === undefined ? other.id : (await api.open({ sample: other.sample })).id;
    await comparison.open(panels.session, two);
    document.body.classList.add("compares");
    remember(panels.session, null, two);
    streams.show(panels.session);
  } catch (error) {
    complain(error.message);
  }
}

function endComparison() {
  comparison.close();
  transport.player.pause();
  document.body.classList.remove("compares");
}

async function openPair([one, two]) {
  try {
    const { id } = await api.open({ sample: one });
    use(id);
    await compareWith({ sample: two });
    transport.playFromStart();
  } catch (error) {
    complain(error.message);
  }
}

// The controls that belong to no panel.

function setMode(name) {
  mode = name;
  showMode();
  panels.repaint();
}

function showMode() {
  const hasSnapshots = panels.known?.kind === "snapshots";
  const isOn = hasSnapshots && mode === "snapshots";
  byId("modes").hidden = !hasSnapshots;
  document.body.classList.toggle("shows-snapshots", isOn);
  setAttribute(byId("mode-snapshots"), "aria-pressed", mode === "snapshots");
  setAttribute(byId("mode-value"), "aria-pressed", mode === "value");
  setText(byId("text-head"), isOn ? "Written" : "Text");
}

function escape() {
  hideTip();
  notice("");
  if (document.activeElement !== byId("filter") || !panels.filter.clear()) byId("scrub").focus();
}

byId("help").addEventListener("click", () => byId("help-dialog").showModal());
byId("mode-snapshots").addEventListener("click", () => setMode("snapshots"));
byId("mode-value").addEventListener("click", () => setMode("value"));
byId("kind").addEventListener("change", (event) => loading.open({ ...sources.get(panels.session), kind: event.target.value || null }));
for (const button of document.querySelectorAll("[data-close]"))
  button.addEventListener("click", () => button.closest("dialog").close());

listen({
  toggle: () => transport.toggle(), back: () => transport.back(), forth: () => transport.forth(),
  previous: () => transport.previous(), next: () => transport.next(),
  start: () => transport.start(), end: () => transport.end(),
  faster: () => transport.faster(), slower: () => transport.faster(-1),
  filter: () => byId("filter").focus(), help: () => byId("help-dialog").showModal(),
  follow: () => panels.follow(), escape, theme: theme.next, tab: (key) => panels.bottom.openAt(Number(key) - 1),
  paste: () => opening.ask("open-text"), url: () => opening.ask("open-url"), file: () => opening.choose(),
});

async function begin() {
  theme.start();
  startSplitters(() => panels.repaint());
  setMode("snapshots");
  document.addEventListener("keydown", hideTip, { capture: true });
  transport.use(null);
  const place = recall();
  try {
    const about = await api.info();
    schemas.setJudge(about.has_judge);
    opening.setInfo(about);
    streams.setInfo(about);
    if (place.session) show(place);
    else if (about.live) use(about.live, { plays: !isCalm.matches });
    opening.setCards((await api.samples()).samples, openPair);
  } catch (error) {
    complain(error.message);
  }
}

function show({ session, step, other }) {
  use(session, { step });
  if (other !== null) compareWith({ id: other });
}

window.addEventListener("hashchange", () => {
  const place = recall();
  if (!place.session) leave();
  else if (place.session !== panels.session || comparison.other !== place.other) show(place);
  else if (place.step !== null) transport.go(place.step);
});

begin();
