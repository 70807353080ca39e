// The panels of one stream: what they ask for, and how they show the view of a step. Every panel is a function of the
// session document and of that view.

import * as api from "./api.js";
import { Bottom } from "./bottom.js";
import { byId, setAttribute } from "./dom.js";
import { DocumentField } from "./document.js";
import { FilterField } from "./filter.js";
import { showFeet } from "./heading.js";
import { SnapshotPanels } from "./snapshot.js";
import { Strip } from "./strip.js";
import { TextPanel } from "./text.js";
import { TracksField } from "./tracks.js";
import { TreePanel } from "./tree.js";
import { Viewing } from "./viewing.js";
import { WaterfallPanel } from "./waterfall.js";

export class Panels {
  session = null; // its id
  known = null; // the session document
  view = null;
  #asked = null; // the place that was asked for last
  #isFresh = false; // opened, complete, and the user has not moved in it yet

  /** `showed(view)` is called after a view is shown; `failed(failure)` when there is none. */
  constructor({ transport, showed, failed }) {
    this.transport = transport;
    this.showed = showed;
    const again = () => this.again();
    const goTo = (step) => this.goTo(step);
    const show = (track) => {
      this.tracks.use(track);
      this.tree.folded.clear();
      this.text.follow();
      this.again();
    };
    this.viewing = new Viewing({ answered: (view, question) => this.#answered(view, question), failed });
    this.text = new TextPanel({ need: again });
    this.tree = new TreePanel({
      need: again,
      choose: (path) => this.choose(this.view?.track ?? null, path),
      followed: (is) => {
        this.#isFresh = false;
        setAttribute(byId("follow"), "aria-pressed", is);
      },
    });
    this.waterfall = new WaterfallPanel({
      jump: (bar) => {
        this.choose(bar.track, bar.path);
        goTo(bar.complete_step ?? this.known.last);
      },
      ask: (unfolded) => api.waterfall(this.session, { ...this.filter.question(), unfolded }),
    });
    this.tracks = new TracksField({ changed: () => show(byId("track").value) });
    this.bottom = new Bottom({
      go: goTo,
      choose: (track, path) => this.choose(track ?? this.view?.track ?? null, path),
      show,
      whole: () => api.value(this.session, { step: this.view.step, track: this.view.track, chosen: this.tree.chosen }),
    });
    this.filter = new FilterField({
      changed: () => {
        this.again();
        this.waterfall.refresh(this.filter.question().filter);
      },
      reveal: (at) => this.text.reveal(at),
    });
    this.snapshots = new SnapshotPanels();
    this.strip = new Strip({ go: goTo });
    this.documents = new DocumentField({
      choose: (number) => {
        transport.player.pause();
        this.ask({ document: number });
      },
    });
    byId("follow").addEventListener("click", () => this.follow());
  }

  // Asking and showing.

  ask(place) {
    this.#asked = place;
    const { tracks, tree, text, filter } = this;
    const chosen = tree.chosen === null ? {} : { chosen: tree.chosen };
    this.viewing.ask({ ...place, ...tracks.question(), ...tree.question(), ...text.question(), ...filter.question(), ...chosen });
  }

  /** The same place with other windows: never an older place, or a step that was just asked for would be lost. */
  again() {
    if (this.known !== null) this.ask(this.#asked ?? { step: this.known.last });
  }

  goTo(step) {
    this.transport.player.pause();
    this.transport.go(step);
  }

  #answered(view, question) {
    const { known, transport } = this;
    if (known === null) return;
    this.view = view;
    if (this.#asked?.document !== undefined) this.#asked = { step: view.step };
    const isOver = known.is_finished && view.step >= known.last;
    const isOpen = view.error === null && !(view.state.is_complete ?? false) && !isOver;
    transport.show(view);
    this.text.show(view.text, view.chosen, question.filter, isOpen);
    const isFiltered = question.filter !== "" && view.filter_problem === null;
    this.tree.show(view, isFiltered, known);
    this.tracks.show(view.track);
    this.waterfall.setNow(view);
    this.bottom.show(view, known);
    this.snapshots.show(view.snapshot);
    this.documents.show(view.document);
    this.strip.setStep(view.step);
    showFeet(view, isFiltered);
    this.filter.show(view.filter_problem, view.text.found);
    this.showed(view);
  }

  /** A chosen value is marked in the tree, the text, the events and the waterfall. */
  choose(track, path) {
    if (path !== null && track !== null && track !== this.view?.track) this.tracks.use(track);
    this.tree.chosen = path;
    this.waterfall.chosen = path === null ? null : { track, path };
    if (path !== null) this.text.revealChosen();
    this.tree.list.later();
    this.waterfall.list.later();
    this.again();
  }

  // The session.

  use(session) {
    this.session = session;
    this.known = this.view = this.#asked = null;
    for (const name of ["text", "tree", "waterfall", "bottom", "snapshots", "tracks", "documents"]) this[name].clear();
    this.transport.use(null);
    this.viewing.use(session);
  }

  /** The session document has changed. */
  know(known, has) {
    this.known = known;
    this.transport.use(known);
    if (has("waterfall") || has("flaws")) {
      this.waterfall.setLayout(known.waterfall, known.flaws);
      this.waterfall.refresh(this.filter.question().filter);
    }
    if (has("tracks")) this.tracks.setTracks(known.tracks);
    this.strip.show(known);
  }

  /** The first look. A stream that was just opened plays from its start; the panels follow a live one. */
  begin({ step = null, plays = false }) {
    const { known } = this;
    const isWhole = known.is_finished && known.tracks.every((track) => track.is_complete);
    const isPlayed = plays && known.is_finished && known.last > 0;
    this.tree.follow(!isWhole || isPlayed); // what is complete has no open end, and is read from its start
    this.#isFresh = isWhole && !isPlayed;
    this.waterfall.isFollowing = !isWhole || isPlayed;
    if (step !== null) this.transport.go(step);
    else if (isPlayed) this.transport.playFromStart();
    else this.ask({ step: known.last });
  }

  /** The user moves in time. */
  moved(isPlaying) {
    if (isPlaying || this.#isFresh) {
      this.tree.follow();
      this.waterfall.isFollowing = true;
    }
    if (isPlaying) this.text.follow();
    this.#isFresh = false;
  }

  follow() {
    this.tree.follow(!this.tree.isFollowing);
    this.#isFresh = false;
    this.waterfall.isFollowing = this.tree.isFollowing;
    if (this.tree.isFollowing) this.text.follow();
    this.again();
  }

  repaint() {
    this.tree.list.later();
    this.waterfall.list.later();
  }
}
