// Snapshots: on the left the snapshot with what is new in it, and between it and the text that was written: what is
// open, what waits, and the rule that says so.

import { byId, element, number, setText } from "./dom.js";
import { canonical, linesWithPaths } from "./paths.js";
import { appendVisible } from "./visible.js";

export class SnapshotPanels {
  #before = null;

  show(snapshot) {
    if (snapshot === null) {
      this.clear();
      return;
    }
    const signature = JSON.stringify([snapshot.text, snapshot.added, snapshot.open, snapshot.waiting, snapshot.why]);
    if (signature === this.#before) return;
    this.#before = signature;
    this.#fillSnapshot(snapshot);
    this.#fillBetween(snapshot);
  }

  clear() {
    this.#before = null;
    byId("snapshot").replaceChildren();
    byId("between").replaceChildren();
    setText(byId("snapshot-fact"), "");
  }

  #fillSnapshot({ text, added, open, waiting }) {
    const news = new Set(added.map(canonical));
    const waits = new Set(waiting.map(canonical));
    const isOpen = open === null ? null : canonical(open);
    let first = null;
    const lines = linesWithPaths(text).map(({ line, path, around, isEnd }) => {
      const isNew = news.has(path) || around.some((outer) => news.has(outer)); // all of what is inside news is news
      const row = element("div", `line${isNew ? " new" : ""}${isEnd ? "" : waits.has(path) ? " waits" : path === isOpen ? " open" : ""}`);
      const mark = element("span", "mark", isNew ? "+" : "");
      mark.setAttribute("aria-hidden", "true");
      const code = line.trimStart();
      row.append(mark, element("span", "indent", line.slice(0, line.length - code.length)), appendVisible(element("span", "code"), code));
      if (isNew) first ??= row;
      return row;
    });
    const scroller = byId("snapshot");
    scroller.replaceChildren(...lines);
    setText(byId("snapshot-fact"), added.length ? `${number(added.length)} new or changed` : "nothing new");
    if (first !== null) scroller.scrollTop = first.offsetTop - scroller.clientHeight / 3;
  }

  #fillBetween({ open, open_rule, waiting, rule, why }) {
    const opened = open === null ? [element("p", "quiet", "Nothing is open.")] : [pathRow(open, "open")];
    const waits = waiting.map((path) => pathRow(path, "waits"));
    if (!waits.length) waits.push(element("p", "quiet", "Nothing waits."));
    byId("between").replaceChildren(
      element("h3", "", "Open", ruleBadge(open === null ? null : open_rule)),
      ...opened,
      element("h3", "", "Waits", ruleBadge(rule)),
      ...waits,
      element("h3", "", "Why"),
      appendVisible(element("p", "why"), why ?? ""),
    );
  }
}

function pathRow(path, tag) {
  return element("div", `place ${tag}`, appendVisible(element("span", "path mono"), path), element("span", "tag", tag));
}

function ruleBadge(rule) {
  return rule === null || rule === undefined ? "" : element("span", "badge", `rule ${rule}`);
}
