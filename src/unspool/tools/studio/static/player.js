// Time. The player only says which place to look at next; the place itself is that of the last view.

const MAX_FRAME = 0.1; // s: a page that was asleep does not leap
const WHOLE_AT_MOST = 120; // frames for everything at the highest speed
const RATE = 50; // steps in a second of an input without times
const UNTIMED_AT_MOST = 12; // s for all of it

export class Player {
  isPlaying = false;
  speed = 1; // Infinity: as fast as it can be drawn
  time = 0;
  #progress = 0; // in steps, where there are no times
  #frame = 0;
  #before = 0;

  /** `place()` -> {step, time, last, duration, isFinished, isTimed}; `go({time} | {step})`; `isBusy()`; `changed()`. */
  constructor({ place, go, isBusy, changed }) {
    this.place = place;
    this.go = go;
    this.isBusy = isBusy;
    this.changed = changed;
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play() {
    if (this.isPlaying) return;
    const place = this.place();
    if (place.last === 0) return;
    const isAtEnd = place.step >= place.last;
    this.time = isAtEnd && place.isFinished ? 0 : place.time;
    this.#progress = isAtEnd && place.isFinished ? 0 : place.step;
    this.isPlaying = true;
    this.#before = performance.now();
    if (isAtEnd && place.isFinished) this.go({ step: 0 });
    this.#frame = requestAnimationFrame((now) => this.#tick(now));
    this.changed();
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    cancelAnimationFrame(this.#frame);
    this.changed();
  }

  /** Someone went elsewhere: go on from there. */
  moved(time, step) {
    this.time = time;
    if (!this.isPlaying || this.speed === Infinity) this.#progress = step;
  }

  #tick(now) {
    if (!this.isPlaying) return;
    // A frame gets the time at which it began, which may be before the press of the button.
    const passed = Math.max(0, Math.min((now - this.#before) / 1000, MAX_FRAME));
    this.#before = now;
    const { step, last, duration, isFinished, isTimed } = this.place();
    const isThere = isTimed || this.speed === Infinity ? this.time > 0 : this.#progress >= last;
    if (step >= last && isFinished && !this.isBusy() && isThere) {
      this.pause();
      return;
    }
    if (this.speed === Infinity) {
      const stride = Math.max(1, Math.ceil(last / WHOLE_AT_MOST));
      if (!this.isBusy() && step < last) this.go({ step: Math.min(last, step + stride) });
      this.time = Math.max(this.time, this.place().time, Number.MIN_VALUE);
    } else if (!isTimed) {
      const rate = Math.max(RATE, last / UNTIMED_AT_MOST) * this.speed;
      this.#progress = Math.min(this.#progress + passed * rate, last);
      if (!this.isBusy() && Math.floor(this.#progress) !== step) this.go({ step: Math.floor(this.#progress) });
    } else {
      this.time = Math.min(this.time + passed * this.speed, duration);
      const isAtEnd = this.time >= duration && step >= last; // and what is live may go on
      if (!this.isBusy() && !isAtEnd) this.go(this.time >= duration ? { step: last } : { time: this.time });
    }
    this.#frame = requestAnimationFrame((next) => this.#tick(next));
  }
}
