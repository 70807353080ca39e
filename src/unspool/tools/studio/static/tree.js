// The value as a tree. The rows are the server's; here is only which of them are in the window, folded, or chosen.

import { byId, element, number, seconds, setAttribute, setText } from "./dom.js";
import { canonical, outer } from "./paths.js";
import { RowList } from "./rowlist.js";
import { setVisible } from "./visible.js";

const AHEAD = 16; // rows beyond what is seen
const MAX_INDENT = 16; // beyond that, rows are not moved in further
const MARKS = { new: "+", grown: "~", completed: "■", "": "" };
const TAIL = 20; // characters of an open string that are always seen

export class TreePanel {
  isFollowing = true;
  folded = new Set();
  chosen = null; // a path
  #start = 0;
  #rows = [];
  #isFiltered = false;
  #active = -1;
  #flaws = new Map(); // by the path of the row that shows them
  #place = seconds; // when a value was complete, in words
  #wanted = 0;

  /** `need()` asks for a view; `choose(path)` and `followed(is)` are callbacks. */
  constructor({ need, choose, followed }) {
    this.need = need;
    this.choose = choose;
    this.followed = followed;
    this.scroller = byId("tree");
    this.list = new RowList(this.scroller, {
      fill: (index, node) => this.#fill(index, node),
      key: (index) => this.#at(index)?.id ?? `unknown ${index}`,
      scrolled: () => this.#setFollowing(this.list.isAtEnd),
      shown: (first, last) => this.#shown(first, last),
    });
    this.scroller.addEventListener("click", (event) => this.#onClick(event));
    this.scroller.addEventListener("keydown", (event) => this.#onKey(event));
  }

  question() {
    const count = this.list.visible + 2 * AHEAD;
    const question = this.isFollowing ? { follow: 1, count } : { start: Math.max(0, this.list.first - AHEAD), count };
    if (this.folded.size) question.folded = [...this.folded].join(",");
    return question;
  }

  clear() {
    this.folded.clear();
    this.#rows = [];
    this.#active = -1;
    this.#flaws.clear();
    this.chosen = null;
    this.list.setTotal(0);
    this.#mark();
  }

  follow(is = true) {
    this.#setFollowing(is);
    if (is) this.list.toEnd();
  }

  #setFollowing(is) {
    if (is === this.isFollowing) return;
    this.isFollowing = is;
    this.followed(is);
  }

  show({ tree, track, error, flaws }, isFiltered, { is_timed: isTimed }) {
    this.#start = tree.start;
    this.#rows = tree.rows;
    this.#isFiltered = isFiltered;
    this.#place = isTimed ? seconds : (value) => `${number(value)} ch`;
    this.#flaws.clear();
    if (error !== null) this.#blame(error.path, error.text);
    for (const flaw of flaws) if (flaw.track === track && flaw.kind === "type") this.#blame(flaw.path, flaw.text);
    this.list.setTotal(tree.total);
    this.#active = Math.min(this.#active, tree.total - 1);
    if (this.isFollowing && !isFiltered) this.list.toEnd();
    this.#mark();
  }

  #blame(path, words) {
    const place = this.#nearest(path);
    if (place !== null && !this.#flaws.has(place)) this.#flaws.set(place, words);
  }

  // An error may be where no node is yet: then it is shown at the innermost one around it.
  #nearest(path) {
    const around = new Set(outer(path));
    let found = null;
    for (const row of this.#rows)
      if (around.has(canonical(row.path)) && (found === null || row.depth > found.depth)) found = row;
    return found?.path ?? null;
  }

  #at(index) {
    return this.#rows[index - this.#start];
  }

  #shown(first, last) {
    if (this.#isFiltered || first >= last) return;
    const isKnown = first >= this.#start && last <= this.#start + this.#rows.length;
    const wanted = isKnown ? -1 : first;
    if (!isKnown && wanted !== this.#wanted) this.need();
    this.#wanted = wanted;
  }

  #fill(index, node) {
    const row = this.#at(index);
    if (node.parts === undefined) build(node);
    const { parts } = node;
    node.index = index;
    if (row === undefined) {
      node.className = "row unknown";
      node.row = null;
      return;
    }
    const isChosen = this.chosen === row.path;
    const isWrong = this.#flaws.has(row.path);
    const classes = ["row", `is-${row.kind}`];
    if (row.is_open) classes.push("open");
    if (row.mark) classes.push(row.mark);
    if (isChosen) classes.push("chosen");
    if (index === this.#active) classes.push("active");
    if (isWrong) classes.push("wrong");
    if (row.repair) classes.push("repaired", row.repair);
    const className = classes.join(" ");
    if (node.className !== className) node.className = className;
    node.id = `node-${row.id}`;
    setAttribute(node, "aria-selected", isChosen);
    if (node.row !== null && node.row === row) return;
    node.row = row;
    const isContainer = row.kind === "object" || row.kind === "array";
    const canFold = isContainer && row.size > 0 && !this.#isFiltered;
    node.setAttribute("role", "treeitem");
    setAttribute(node, "aria-level", row.depth + 1);
    setAttribute(node, "aria-expanded", canFold ? !row.is_folded : null);
    setText(parts.mark, MARKS[row.mark === "grown" && !row.is_open ? "completed" : row.mark]);
    const depth = this.#isFiltered ? 0 : Math.min(row.depth, MAX_INDENT);
    parts.fold.style.setProperty("margin-inline-start", `${depth * 16}px`);
    setText(parts.fold, canFold ? (row.is_folded ? "▸" : "▾") : "");
    setVisible(parts.key, this.#isFiltered ? row.path : row.label);
    parts.key.classList.toggle("is-index", typeof row.key === "number");
    this.#fillValue(row, parts, isContainer);
    const done = row.complete === null ? "" : this.#place(row.complete);
    setText(parts.tag, isWrong ? "error" : row.repair || (row.is_open ? "open" : done));
    parts.tag.title = done && !isWrong && !row.repair ? `complete at ${done}` : "";
    node.title = this.#flaws.get(row.path) ?? "";
  }

  #fillValue(row, { head, tail }, isContainer) {
    let text = row.text;
    if (isContainer) text = row.size ? `${text[0]}${number(row.size)}${text[1]}` : text;
    const cut = row.kind === "string" && row.is_open && text.length > TAIL * 2 ? text.length - TAIL : text.length;
    setVisible(head, text.slice(0, cut));
    setVisible(tail, text.slice(cut));
  }

  // By hand.

  #fold(row, is) {
    if (is) this.folded.add(row.id);
    else this.folded.delete(row.id);
    this.need();
  }

  #onClick(event) {
    const node = event.target.closest(".row");
    if (!node?.row) return;
    this.#active = node.index;
    if (event.target === node.parts.fold && node.hasAttribute("aria-expanded")) {
      this.#setFollowing(false);
      this.#fold(node.row, !node.row.is_folded);
    } else this.choose(this.chosen === node.row.path ? null : node.row.path);
    this.#mark();
  }

  #mark() {
    this.list.paint();
    const row = this.#at(this.#active);
    setAttribute(this.scroller, "aria-activedescendant", row === undefined ? null : `node-${row.id}`);
  }

  #move(index) {
    this.#active = Math.max(0, Math.min(index, this.list.total - 1));
    this.#setFollowing(false);
    this.list.reveal(this.#active);
    this.#mark();
  }

  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !this.list.total) return;
    const row = this.#at(this.#active);
    const page = this.list.visible - 1;
    const canFold = row !== undefined && (row.kind === "object" || row.kind === "array") && row.size > 0;
    const actions = {
      ArrowDown: () => this.#move(this.#active + 1),
      ArrowUp: () => this.#move(this.#active < 0 ? this.list.first : this.#active - 1),
      PageDown: () => this.#move(this.#active + page),
      PageUp: () => this.#move(this.#active - page),
      ArrowRight: () => canFold && (row.is_folded ? this.#fold(row, false) : this.#move(this.#active + 1)),
      ArrowLeft: () => (canFold && !row.is_folded ? this.#fold(row, true) : this.#toParent(row)),
      Enter: () => row && (this.choose(this.chosen === row.path ? null : row.path), this.#mark()),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  #toParent(row) {
    if (row === undefined) return;
    for (let index = this.#active - 1; index >= this.#start; index -= 1)
      if (this.#at(index).depth < row.depth) return this.#move(index);
  }
}

function build(node) {
  const parts = {};
  for (const name of ["mark", "fold", "key", "head", "tail", "tag"]) {
    parts[name] = element("span", name);
    if (name === "mark" || name === "fold") parts[name].setAttribute("aria-hidden", "true");
  }
  const value = element("span", "value", parts.head, parts.tail);
  node.append(parts.mark, parts.fold, parts.key, value, parts.tag);
  node.parts = parts;
  node.row = null;
}
