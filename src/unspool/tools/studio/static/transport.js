// The controls of time, and what they show.

import { byId, element, number, seconds, setAttribute, setText } from "./dom.js";
import { Player } from "./player.js";

const BUTTONS = {
  "to-start": "start", "to-previous": "previous", back: "back", play: "toggle", forth: "forth", "to-next": "next", "to-end": "end",
};

const STEPS = { snapshots: "snapshot", comparison: "moment" };

export class Transport {
  #view = null;
  #document = null;
  #isScrubbing = false;
  #marks = "";
  #wanted = null; // the step that was asked for and is not shown yet
  isAtEnd = true; // whether the end is what is looked at, so that what comes is followed

  /**
   * `ask(place)` looks at {step} or {time}; `passing(time)` is called while time passes; `moved(isPlaying)` when
   * the user moves, playing or not.
   */
  constructor({ ask, isBusy, passing, moved }) {
    this.ask = ask;
    this.moved = moved;
    this.scrub = byId("scrub");
    this.player = new Player({
      place: () => this.place,
      go: (place) => {
        ask(place);
        passing(this.player.time);
      },
      isBusy,
      changed: () => this.#show(),
    });
    for (const [id, name] of Object.entries(BUTTONS)) byId(id).addEventListener("click", () => this[name]());
    byId("speed").addEventListener("change", (event) => this.#setSpeed(event.target.value));
    this.scrub.addEventListener("input", () => {
      this.#isScrubbing = true;
      this.player.pause();
      this.go(Number(this.scrub.value));
    });
    this.scrub.addEventListener("change", () => (this.#isScrubbing = false));
  }

  get place() {
    const { last = 0, duration = 0, is_finished: isFinished = false, is_timed: isTimed = true } = this.#document ?? {};
    return { step: this.#view?.step ?? 0, time: this.#view?.time ?? 0, last, duration, isFinished, isTimed };
  }

  go(step) {
    const { last } = this.place;
    this.#wanted = Math.max(0, Math.min(step, last));
    this.isAtEnd = this.#wanted >= last;
    this.moved(false);
    this.ask({ step: this.#wanted });
  }

  #step(by) {
    this.player.pause();
    this.go((this.#wanted ?? this.place.step) + by);
  }

  start() {
    this.player.pause();
    this.go(0);
  }

  end() {
    this.player.pause();
    this.go(this.place.last);
  }

  back() {
    this.#step(-1);
  }

  forth() {
    this.#step(1);
  }

  previous() {
    this.player.pause();
    if (this.#view !== null) this.go(this.#view.previous_completion ?? 0);
  }

  next() {
    this.player.pause();
    if (this.#view !== null) this.go(this.#view.next_completion ?? this.place.last);
  }

  /** Show the stream as it came, from its start. */
  playFromStart() {
    this.player.pause();
    this.#view = null;
    this.isAtEnd = false;
    this.ask({ step: 0 });
    this.toggle();
  }

  toggle() {
    if (!this.player.isPlaying) this.moved(true);
    this.#wanted = null;
    this.player.toggle();
    if (this.player.isPlaying && this.place.isFinished) this.isAtEnd = false;
  }

  faster(by = 1) {
    const select = byId("speed");
    const index = Math.max(0, Math.min(select.selectedIndex + by, select.options.length - 1));
    select.selectedIndex = index;
    this.#setSpeed(select.value);
  }

  #setSpeed(value) {
    this.player.speed = value === "max" ? Infinity : Number(value);
  }

  use(document) {
    this.#document = document;
    if (document === null) {
      this.player.pause();
      this.#view = null;
      this.isAtEnd = true;
      this.#wanted = null;
    }
    this.#show();
  }

  show(view) {
    this.#view = view;
    if (this.#wanted === view.step) this.#wanted = null;
    // A user who asked for the end stays there: while the stream grows, the view may be older than its end.
    if (view.step >= this.place.last) this.isAtEnd = true;
    else if (this.player.isPlaying) this.isAtEnd = false;
    if (!this.player.isPlaying || this.player.speed === Infinity) this.player.moved(view.time, view.step);
    this.#show();
  }

  #show() {
    const { step, time, last, duration, isFinished, isTimed } = this.place;
    const isPlaying = this.player.isPlaying;
    const play = byId("play");
    play.classList.toggle("is-playing", isPlaying);
    setAttribute(play, "aria-label", isPlaying ? "Pause" : "Play");
    const hasSession = this.#document !== null && last > 0;
    for (const id of Object.keys(BUTTONS)) byId(id).disabled = !hasSession;
    this.scrub.disabled = !hasSession;
    if (Number(this.scrub.max) !== last) this.scrub.max = String(last);
    if (isPlaying) this.#isScrubbing = false;
    if (!this.#isScrubbing && Number(this.scrub.value) !== step) this.scrub.value = String(step);
    this.scrub.style.setProperty("--share", last ? `${(step / last) * 100}%` : "0%");
    const more = isFinished ? "" : "+";
    const words = hasSession ? `${STEPS[this.#document.kind] ?? "fragment"} ${number(step)} / ${number(last)}${more}` : "";
    const clock = !hasSession
      ? ""
      : isTimed
        ? `${seconds(time)} / ${seconds(duration)}`
        : `${number(this.#view?.characters ?? 0)} / ${number(this.#document.characters)} ch`;
    setText(byId("where"), words && `${words}   ${clock}`);
    setAttribute(this.scrub, "aria-valuetext", `${words}, ${clock}`);
    this.#showMarks();
  }

  // Where something is wrong.
  #showMarks() {
    const { last = 0, flaws = [] } = this.#document ?? {};
    const shown = `${last} ${flaws.map(({ step }) => step)}`;
    if (shown === this.#marks) return;
    this.#marks = shown;
    const marks = flaws.map(({ step }) => {
      const mark = element("i");
      mark.style.setProperty("left", `${last ? (step / last) * 100 : 0}%`);
      return mark;
    });
    byId("line-marks").replaceChildren(...marks);
  }
}
