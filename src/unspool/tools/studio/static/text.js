// The text so far: a window of it, usually of its end. The text of this step is marked, and so are the character of an
// error and the repairs. The text is held in blocks of a fixed size, so that a step that adds a little changes the last ones only.
//
// Offsets count characters as Python does, not the halves of pairs of JavaScript.

import { byId, element, number, setText } from "./dom.js";
import { appendVisible } from "./visible.js";

const BLOCK = 1000;
const AT_END = 6000; // characters asked for when the end is followed
const AROUND = 12_000; // and when one scrolls in the past
const NEAR = 240; // px from where more is asked for
const PAIRS = /[\ud800-\udfff]/;

export class TextPanel {
  isFollowing = true;
  #from = 0;
  #shown = { start: 0, stop: 0, length: 0, error: null };
  #blocks = new Map();
  #expected = -1;
  #errorShown = null;

  /** `need()` asks for a view, because the window is another one now. */
  constructor({ need }) {
    this.need = need;
    this.scroller = byId("text");
    this.caret = element("span", "caret");
    this.scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
  }

  /** What to ask for. */
  question() {
    const { error } = this.#shown;
    if (this.isFollowing && error === null) return { text_count: AT_END };
    const from = this.isFollowing ? error - AT_END / 2 : this.#from;
    return { text_start: Math.max(0, from), text_count: this.isFollowing ? AT_END : AROUND };
  }

  follow() {
    this.isFollowing = true;
  }

  clear() {
    this.isFollowing = true;
    this.#shown = { start: 0, stop: 0, length: 0, error: null };
    this.#blocks.clear();
    this.scroller.replaceChildren();
    setText(byId("text-fact"), "");
  }

  show(text, isOpen) {
    const characters = PAIRS.test(text.chars) ? Array.from(text.chars) : text.chars;
    const error = text.error_at;
    const stop = text.start + characters.length;
    const anchor = this.isFollowing ? null : this.#anchor();
    this.#shown = { start: text.start, stop, length: text.length, error };
    this.#fill(text, characters, stop);
    this.caret.className = error !== null && error >= text.length ? "caret error" : isOpen ? "caret" : "caret gone";
    this.scroller.classList.toggle("is-cut", text.start > 0);
    setText(byId("text-fact"), this.#fact(text));
    if (anchor !== null) this.#restore(anchor);
    else if (error === null) this.#scrollTo(this.scroller.scrollHeight);
    else this.#toError(error);
  }

  #fact({ length, new_from }) {
    const added = length - new_from;
    return `${number(length)} ch${added > 0 ? `  +${number(added)}` : ""}`;
  }

  #fill(text, characters, stop) {
    const kept = new Map();
    let next = this.scroller.firstChild;
    for (let at = text.start; at < stop; ) {
      const end = Math.min(stop, (Math.floor(at / BLOCK) + 1) * BLOCK);
      const part = characters.slice(at - text.start, end - text.start);
      const chars = typeof part === "string" ? part : part.join("");
      const marked = Math.min(Math.max(text.new_from, at), end);
      const error = text.error_at !== null && text.error_at >= at && text.error_at < end ? text.error_at : -1;
      const repairs = text.repairs.filter((one) => one.at <= end && (one.at >= at || one.at + one.length > at));
      const signature = `${at} ${marked} ${error} ${end === stop} ${JSON.stringify(repairs)} ${chars}`;
      let node = this.#blocks.get(at);
      if (node?.signature !== signature) {
        const fresh = block(part, at, marked, error, repairs, end === stop);
        fresh.signature = signature;
        if (node === next && next !== null) next = node.nextSibling;
        node?.remove();
        node = fresh;
      }
      this.#blocks.delete(at);
      kept.set(at, node);
      if (node === next) next = next.nextSibling;
      else this.scroller.insertBefore(node, next);
      at = end;
    }
    for (const node of this.#blocks.values()) node.remove();
    this.#blocks = kept;
    this.scroller.append(this.caret);
  }

  #toError(error) {
    const { start, stop, length } = this.#shown;
    if (error < length && (error < start || error >= stop)) {
      if (this.#errorShown !== error) this.need(); // once: the window around it
      this.#errorShown = error;
      return;
    }
    this.#errorShown = error;
    const mark = this.scroller.querySelector("mark.error") ?? this.caret;
    this.#scrollTo(mark.offsetTop - this.scroller.clientHeight / 2);
  }

  #anchor() {
    const top = this.scroller.getBoundingClientRect().top;
    for (const [at, node] of this.#blocks) {
      const place = node.getBoundingClientRect();
      if (place.bottom > top) return { at, offset: place.top - top };
    }
    return { at: -1, offset: 0 };
  }

  #restore({ at, offset }) {
    const node = this.#blocks.get(at);
    if (node === undefined) return;
    const now = node.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
    this.#scrollTo(this.scroller.scrollTop + now - offset);
  }

  #scrollTo(top) {
    this.scroller.scrollTop = top;
    this.#expected = this.scroller.scrollTop;
  }

  #onScroll() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    if (Math.abs(scrollTop - this.#expected) <= 1) return;
    this.#expected = scrollTop;
    const { start, stop, length, error } = this.#shown;
    const below = scrollHeight - clientHeight - scrollTop;
    if (below < 4 && stop >= length && error === null) {
      this.isFollowing = true;
      return;
    }
    if (this.isFollowing) this.#from = start;
    this.isFollowing = false;
    if ((scrollTop < NEAR && start > 0) || (below < NEAR && stop < length)) {
      const middle = Math.max(0, this.#anchor().at);
      const from = Math.max(0, Math.floor((middle - AROUND / 2) / BLOCK) * BLOCK);
      if (from === this.#from && stop - start > AT_END) return;
      this.#from = from;
      this.need();
    }
  }
}

function block(part, at, marked, error, repairs, isEnd) {
  const node = element("span", "block");
  const write = (parent, start, stop) => {
    if (start >= stop) return;
    const piece = part.slice(start - at, stop - at);
    appendVisible(parent, typeof piece === "string" ? piece : piece.join(""), { lines: true });
  };
  // A repair marks the characters that stood there. If something was put in, the mark is empty.
  const put = (start, stop, tag, className) => {
    if (start >= stop) return;
    const parent = tag ? node.appendChild(element(tag, className)) : node;
    let from = start;
    for (const { at: place, length, is_guess, text } of repairs) {
      const end = Math.min(place + length, stop);
      if (place >= stop || (length ? end <= from : place < start)) continue;
      const begin = Math.max(place, from);
      write(parent, from, begin);
      const mark = parent.appendChild(repairMark(is_guess, length, text));
      write(mark, begin, Math.max(end, begin));
      from = Math.max(end, begin);
    }
    write(parent, from, stop);
  };
  const run = (start, stop, tag, className) => {
    if (error < start || error >= stop) return put(start, stop, tag, className);
    put(start, error, tag, className);
    put(error, error + 1, "mark", "error");
    put(error + 1, stop, tag, className);
  };
  run(at, marked, "", "");
  run(marked, at + part.length, "mark", "new");
  for (const { at: place, length, is_guess, text } of repairs)
    if (!length && isEnd && place === at + part.length) node.append(repairMark(is_guess, length, text));
  return node;
}

function repairMark(isGuess, length, text) {
  const level = isGuess ? "guess" : "spelling";
  const mark = element("mark", `repair ${level}${length ? "" : " put-in"}`);
  mark.title = `${level}: ${text}`;
  return mark;
}
