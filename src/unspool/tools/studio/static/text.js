// The text so far: a window of it, usually of its end. The text of this step is marked, and so are errors, repairs, the
// chosen value and what is searched for. The text is held in blocks of a fixed size, so that a step that adds a little changes the last ones only.
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
  #marks = [];
  #wanted = null; // the place to bring into sight
  #wantsChosen = false;

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
    this.#wanted = null;
    this.#wantsChosen = false;
    this.#blocks.clear();
    this.scroller.replaceChildren();
    setText(byId("text-fact"), "");
  }

  /** Bring a place of the text into sight. */
  reveal(at) {
    this.#wanted = at;
    this.#goTo(at);
  }

  #goTo(at) {
    this.isFollowing = false;
    this.#from = Math.max(0, Math.floor((at - AROUND / 2) / BLOCK) * BLOCK);
    this.need();
  }

  /** Bring the chosen value into sight as soon as it is known where it is. */
  revealChosen() {
    this.#wantsChosen = true;
  }

  /** `chosen` is the chosen value or null, `needle` what is searched for. */
  show(text, chosen, needle, isOpen) {
    const characters = PAIRS.test(text.chars) ? Array.from(text.chars) : text.chars;
    const error = text.error_at;
    const stop = text.start + characters.length;
    const anchor = this.isFollowing ? null : this.#anchor();
    this.#shown = { start: text.start, stop, length: text.length, error };
    this.#marks = marksOf(text, chosen, needle);
    this.#fill(text, characters, stop);
    this.caret.className = error !== null && error >= text.length ? "caret error" : isOpen ? "caret" : "caret gone";
    this.scroller.classList.toggle("is-cut", text.start > 0);
    setText(byId("text-fact"), this.#fact(text));
    if (this.#wantsChosen && chosen !== null && chosen.at !== null) {
      this.#wantsChosen = chosen.at < text.start || chosen.at >= stop;
      if (this.#wantsChosen) this.#goTo(chosen.at);
      else this.#scrollToMark("mark.chosen");
      return;
    }
    if (this.#wanted !== null) {
      this.#wanted = this.#scrollToPlace(this.#wanted) ? null : this.#wanted;
    } else if (anchor !== null) this.#restore(anchor);
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
      const marks = this.#marks.filter((mark) => mark.at <= end && mark.stop >= at);
      const signature = `${at} ${end === stop} ${JSON.stringify(marks)} ${chars}`;
      let node = this.#blocks.get(at);
      if (node?.signature !== signature) {
        const fresh = block(part, at, marks, end === stop);
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

  #scrollToMark(selector) {
    const mark = this.scroller.querySelector(selector);
    if (mark === null) return false;
    this.isFollowing = false;
    this.#from = this.#shown.start;
    this.#scrollTo(mark.offsetTop - this.scroller.clientHeight / 3);
    return true;
  }

  #scrollToPlace(at) {
    const { start, stop } = this.#shown;
    if (at < start || at >= stop) return false;
    const wanted = this.scroller.querySelector(`mark[data-found="${at}"]`);
    for (const mark of this.scroller.querySelectorAll("mark.found")) mark.classList.toggle("current", mark === wanted);
    if (wanted !== null) this.#scrollTo(wanted.offsetTop - this.scroller.clientHeight / 3);
    return true;
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

/** What is marked in the text: places with a class and maybe a title. */
function marksOf(text, chosen, needle) {
  const marks = [];
  if (text.new_from < text.length) marks.push({ at: text.new_from, stop: text.length, name: "new" });
  if (text.error_at !== null) marks.push({ at: text.error_at, stop: text.error_at + 1, name: "error" });
  for (const { at, length, text: title } of text.flaws) marks.push({ at, stop: at + Math.max(length, 1), name: "flaw", title });
  for (const at of text.found) marks.push({ at, stop: at + needle.length, name: "found" });
  if (chosen !== null && chosen.at !== null) marks.push({ at: chosen.at, stop: chosen.stop, name: "chosen" });
  for (const { at, length, is_guess: isGuess, text: words } of text.repairs) {
    const level = isGuess ? "guess" : "spelling";
    marks.push({ at, stop: at + length, name: `repair ${level}${length ? "" : " put-in"}`, title: `${level}: ${words}` });
  }
  return marks;
}

// A block is cut where a mark begins or ends. A mark without characters is something that was put in there.
function block(part, at, marks, isEnd) {
  const end = at + part.length;
  const node = element("span", "block");
  const cuts = new Set([at, end]);
  for (const { at: from, stop } of marks) for (const cut of [from, stop]) if (cut > at && cut < end) cuts.add(cut);
  const places = [...cuts].sort((one, two) => one - two);
  for (const [index, from] of places.entries()) {
    for (const mark of marks)
      if (mark.at === mark.stop && mark.at === from && (from < end || isEnd)) append(node, [mark]);
    const to = places[index + 1];
    if (to === undefined) break;
    const piece = part.slice(from - at, to - at);
    const inside = marks.filter((mark) => mark.at < mark.stop && mark.at <= from && mark.stop >= to);
    const parent = inside.length ? append(node, inside) : node;
    appendVisible(parent, typeof piece === "string" ? piece : piece.join(""), { lines: true });
  }
  return node;
}

function append(node, marks) {
  const mark = node.appendChild(element("mark", marks.map(({ name }) => name).join(" ")));
  const titles = marks.map(({ title }) => title).filter(Boolean);
  if (titles.length) mark.title = titles.join("; ");
  const found = marks.find(({ name }) => name === "found");
  if (found !== undefined) mark.dataset.found = String(found.at);
  return mark;
}
