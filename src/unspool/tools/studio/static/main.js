// The page. It holds the session document, which patches keep up to date, and the view of one step, which it asks for.
// Every panel is a function of the two.

import * as api from "./api.js";
import { Bottom } from "./bottom.js";
import { byId, setAttribute, setText } from "./dom.js";
import { FilterField } from "./filter.js";
import { showFeet, showHeading } from "./heading.js";
import { listen } from "./keyboard.js";
import { Opening } from "./opening.js";
import { recall, remember } from "./place.js";
import { SchemaDialog } from "./schema.js";
import { SnapshotPanels } from "./snapshot.js";
import { busy, complain, connected, notice, say } from "./status.js";
import { watch } from "./stream.js";
import { TextPanel } from "./text.js";
import * as theme from "./theme.js";
import { hideTip } from "./tip.js";
import { Transport } from "./transport.js";
import { TracksField } from "./tracks.js";
import { TreePanel } from "./tree.js";
import { Viewing } from "./viewing.js";
import { WaterfallPanel } from "./waterfall.js";

let session = null; // its id
let source = null; // what it was opened from, so that it can be opened again as another kind
let stop = () => {};
let known = null; // the session document
let view = null;
let asked = null; // the place that was asked for last
let isFresh = false; // opened, complete, and the user has not moved in it yet
let firstStep = null; // where to begin, if not at the end
let mode = "snapshots";

const viewing = new Viewing({ answered, failed });
const transport = new Transport({
  ask,
  isBusy: () => viewing.isBusy,
  passing: (time) => waterfall.isInSeconds && waterfall.setTime(time),
  moved: (isPlaying) => {
    if (isPlaying || isFresh) {
      tree.follow();
      waterfall.isFollowing = true;
    }
    if (isPlaying) text.follow();
    isFresh = false;
  },
});
const text = new TextPanel({ need: () => again() });
const tree = new TreePanel({
  need: () => again(),
  choose: (path) => choose(view?.track ?? null, path),
  followed: (is) => {
    isFresh = false;
    setAttribute(byId("follow"), "aria-pressed", is);
  },
});
const waterfall = new WaterfallPanel({
  jump: (bar) => {
    transport.player.pause();
    if (view?.track !== bar.track) tracks.use(bar.track);
    choose(bar.track, bar.path);
    transport.go(bar.complete_step ?? known.last);
  },
});
const tracks = new TracksField({
  changed: () => {
    tree.folded.clear();
    text.follow();
    again();
  },
});
const bottom = new Bottom({
  go: (step) => {
    transport.player.pause();
    transport.go(step);
  },
});
const filter = new FilterField({ changed: again });
const snapshots = new SnapshotPanels();
const opening = new Opening({ open, complain, schemaFile: (file) => schemas.takeFile(file) });
const schemas = new SchemaDialog({ use: (schema) => api.setSchema(session, schema).then(() => again()) });

// Asking and showing.

function ask(place) {
  asked = place;
  viewing.ask({ ...place, ...tracks.question(), ...tree.question(), ...text.question(), ...filter.question() });
}

// The same place with other windows: never an older place, or a step that was just asked for would be lost.
function again() {
  if (known !== null) ask(asked ?? { step: known.last });
}

function answered(answer, question) {
  if (known === null) return;
  view = answer;
  const isOver = known.is_finished && view.step >= known.last;
  const isOpen = view.error === null && !(view.state.is_complete ?? false) && !isOver;
  transport.show(view);
  text.show(view.text, isOpen);
  const isFiltered = question.filter !== "" && view.filter_problem === null;
  tree.show(view, isFiltered);
  tracks.show(view.track);
  waterfall.setNow(view);
  bottom.show(view);
  snapshots.show(view.snapshot);
  showFeet(view, isFiltered);
  filter.show(view.filter_problem);
  remember(session, transport.isAtEnd ? null : view.step);
}

function failed(failure) {
  if (failure.status === 404) gone();
  else {
    transport.player.pause();
    complain(failure.message);
  }
}

function choose(track, path) {
  tree.chosen = path;
  waterfall.chosen = path === null ? null : { track, path };
  tree.list.later();
  waterfall.list.later();
}

// The session.

async function open(wanted) {
  say("opening …");
  notice("");
  busy(true);
  const { file, ...rest } = wanted;
  try {
    const { id } = file ? await api.upload(file, rest) : await api.open(rest);
    use(id, wanted);
    say("opened");
  } catch (error) {
    complain(error.message);
  } finally {
    busy(false);
  }
}

function use(id, openedFrom = null, step = null) {
  stop();
  notice("");
  session = id;
  source = openedFrom;
  known = null;
  view = null;
  asked = null;
  firstStep = step;
  for (const panel of [text, tree, waterfall, bottom, snapshots, tracks]) panel.clear();
  transport.use(null);
  viewing.use(id);
  remember(id, step);
  document.body.classList.add("has-session");
  schemas.setSession(true);
  stop = watch(id, {
    changed,
    connected,
    refused: () => refused(id),
  });
}

// A stream does not say why it was refused; a view does.
async function refused(id) {
  try {
    await api.view(id, { step: 0, count: 1, text_count: 1 });
    complain("Too many pages follow this server. Close some of them, and load this one again.");
  } catch (error) {
    if (id === session) failed(error);
  }
}

function changed(now, members) {
  const isFirst = known === null;
  const wasAtEnd = isFirst || transport.isAtEnd;
  const has = (name) => members === null || members.has(name);
  known = now;
  transport.use(known);
  if (has("waterfall")) waterfall.setLayout(known.waterfall);
  if (has("tracks")) tracks.setTracks(known.tracks);
  showHeading(known, source);
  if (has("kind")) showMode();
  if (has("problem") && known.problem) notice(known.problem);
  if (isFirst) {
    const isWhole = known.is_finished && known.tracks.every((track) => track.is_complete);
    tree.follow(!isWhole); // what is complete has no open end, and is read from its start
    isFresh = isWhole;
    waterfall.isFollowing = !isWhole;
    if (firstStep !== null) transport.go(firstStep);
    else ask({ step: known.last });
  } else if (wasAtEnd && has("last") && !transport.player.isPlaying) ask({ step: known.last });
  else if (has("schema")) again();
  else if (view !== null && members === null) again();
}

function gone() {
  stop();
  viewing.use(null);
  transport.player.pause();
  remember(null, null);
  if (known === null) document.body.classList.remove("has-session"); // otherwise what was seen stays
  complain("The server no longer has this session: it was restarted, or too many sessions were opened. Open it again.");
}

// The controls that belong to no panel.

function setMode(name) {
  mode = name;
  showMode();
  tree.list.later();
  waterfall.list.later();
}

function showMode() {
  const hasSnapshots = known?.kind === "snapshots";
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
  if (document.activeElement !== byId("filter") || !filter.clear()) byId("scrub").focus();
}

byId("follow").addEventListener("click", () => follow());
byId("help").addEventListener("click", () => byId("help-dialog").showModal());
byId("mode-snapshots").addEventListener("click", () => setMode("snapshots"));
byId("mode-value").addEventListener("click", () => setMode("value"));
byId("kind").addEventListener("change", (event) => open({ ...source, kind: event.target.value || null }));
for (const button of document.querySelectorAll("[data-close]"))
  button.addEventListener("click", () => button.closest("dialog").close());

function follow() {
  tree.follow(!tree.isFollowing);
  isFresh = false;
  waterfall.isFollowing = tree.isFollowing;
  if (tree.isFollowing) text.follow();
  again();
}

listen({
  toggle: () => transport.toggle(), back: () => transport.back(), forth: () => transport.forth(),
  previous: () => transport.previous(), next: () => transport.next(),
  start: () => transport.start(), end: () => transport.end(),
  faster: () => transport.faster(), slower: () => transport.faster(-1),
  filter: () => byId("filter").focus(), help: () => byId("help-dialog").showModal(),
  follow, escape, theme: theme.next, tab: (key) => bottom.openAt(Number(key) - 1),
  paste: () => opening.ask("open-text"), url: () => opening.ask("open-url"), file: () => opening.choose(),
});

async function begin() {
  theme.start();
  setMode("snapshots");
  document.addEventListener("keydown", hideTip, { capture: true });
  transport.use(null);
  const place = recall();
  try {
    const about = await api.info();
    schemas.setPossible(about.has_schema);
    opening.setInfo(about);
    const id = place.session ?? about.live;
    if (id) use(id, null, place.step);
  } catch (error) {
    complain(error.message);
  }
}

window.addEventListener("hashchange", () => {
  const place = recall();
  if (place.session && place.session !== session) use(place.session, null, place.step);
  else if (place.session && place.step !== null) transport.go(place.step);
});

begin();
