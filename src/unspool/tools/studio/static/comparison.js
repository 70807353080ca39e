// Two streams on one time axis: their texts side by side, and for each field when it was complete in both.

import * as api from "./api.js";
import { byId, element, number, seconds, setAttribute, setText } from "./dom.js";
import { RowList } from "./rowlist.js";
import { appendVisible, setVisible, visible } from "./visible.js";
import { Viewing } from "./viewing.js";

const MOMENTS = 1_000; // of the axis
const CHARACTERS = 6_000; // of each text
const SIDES = ["one", "two"];

const percent = (share) => `${Math.max(0, Math.min(1, share)) * 100}%`;

export class Comparison {
  isOn = false;
  other = null; // the id of the second stream
  #rows = [];
  #axis = null;
  #place = 0; // on the axis
  #stops = []; // where something is complete
  #viewings = [];

  constructor({ transport, closed }) {
    this.transport = transport;
    this.list = new RowList(byId("compared-rows"), {
      fill: (index, node) => this.#fill(index, node),
      key: (index) => `${this.#rows[index].track} ${this.#rows[index].path} ${index}`,
    });
    byId("compare-close").addEventListener("click", closed);
  }

  get #isTimed() {
    return this.#axis.unit === "seconds";
  }

  #spelled(value) {
    if (value === null) return "open";
    return this.#isTimed ? seconds(value) : `${number(Math.round(value))} ch`;
  }

  async open(one, two) {
    const answer = await api.compare(one, two);
    this.close();
    this.isOn = true;
    this.other = two;
    this.#axis = answer.axis;
    this.#rows = answer.rows;
    const ends = this.#rows.flatMap((row) => SIDES.map((side) => row[side]?.complete ?? null)).filter((end) => end !== null);
    this.#stops = [...new Set(ends)].sort((first, second) => first - second);
    this.#viewings = SIDES.map((side) => new Viewing({ answered: (view) => this.#showText(side, view), failed: () => {} }));
    this.#viewings[0].use(one);
    this.#viewings[1].use(two);
    for (const [index, side] of SIDES.entries()) {
      const { title } = answer.sides[index];
      setText(byId(`${side}-name`), visible(title));
      byId(`${side}-name`).title = visible(title);
    }
    this.#drawAxis();
    this.#showSummary(answer);
    byId("comparison").hidden = false;
    this.list.setTotal(this.#rows.length);
    this.list.scroller.scrollTop = 0;
    this.transport.use({
      kind: "comparison", last: MOMENTS, duration: this.#isTimed ? this.#axis.total : 0, is_finished: true,
      is_timed: this.#isTimed, characters: this.#axis.total, flaws: [],
    });
    this.ask({ step: MOMENTS });
  }

  close() {
    if (!this.isOn) return;
    this.isOn = false;
    this.other = null;
    for (const viewing of this.#viewings) viewing.use(null);
    byId("comparison").hidden = true;
  }

  /** Look at a moment, or at a time. */
  ask({ step = null, time = 0 }) {
    const { total } = this.#axis;
    this.#place = step === null ? time : (step / MOMENTS) * total;
    const shown = step ?? (total ? Math.round((time / total) * MOMENTS) : MOMENTS);
    const moment = (stop) => (total ? Math.ceil((stop / total) * MOMENTS) : MOMENTS);
    const before = this.#stops.findLast((stop) => moment(stop) < shown);
    const after = this.#stops.find((stop) => moment(stop) > shown);
    this.transport.show({
      step: shown, time: this.#isTimed ? this.#place : 0, characters: Math.round(this.#place),
      previous_completion: before === undefined ? null : moment(before),
      next_completion: after === undefined ? null : moment(after),
    });
    // The end is the last step, whatever the rounding of the axis.
    const place = shown >= MOMENTS ? {} : this.#isTimed ? { time: this.#place } : { characters: this.#place };
    for (const viewing of this.#viewings) viewing.ask({ ...place, count: 1, text_count: CHARACTERS });
    this.list.later();
  }

  #showText(side, { text, state, error }) {
    const scroller = byId(`${side}-text`);
    const characters = Array.from(text.chars);
    const fresh = Math.max(0, text.new_from - text.start);
    const news = element("mark", "new");
    appendVisible(news, characters.slice(fresh).join(""), { lines: true });
    const before = appendVisible(element("span"), characters.slice(0, fresh).join(""), { lines: true });
    scroller.replaceChildren(before, news);
    if (state.is_complete === false && error === null) scroller.append(element("span", "caret"));
    scroller.scrollTop = scroller.scrollHeight;
    setText(byId(`${side}-fact`), `${number(text.length)} ch`);
  }

  #drawAxis() {
    const lane = () => {
      const marks = this.#axis.ticks.map(({ at, label }) => {
        const mark = element("span", at > 0.94 ? "tick last" : "tick", label);
        mark.style.setProperty("left", percent(at));
        return mark;
      });
      return element("span", "lane", ...marks);
    };
    byId("compared-axis").replaceChildren(element("span", "unit", this.#axis.unit), lane(), lane(), element("span", "change", "in two"));
  }

  #showSummary({ sides, counts, left_out: leftOut }) {
    setText(byId("compared-fact"), `in two: ${counts.map(([change, count]) => `${number(count)} ${change}`).join(", ") || "nothing"}`);
    const lines = sides.map(({ usable: [first, half, all] }, index) =>
      element("span", "key", first === null
        ? `${SIDES[index]}: no field is complete`
        : `${SIDES[index]}: first field ${this.#spelled(first)}, half ${this.#spelled(half)}, last ${this.#spelled(all)}`),
    );
    if (leftOut) lines.push(element("span", "key", `${number(leftOut)} more fields are folded away`));
    byId("compared-foot").replaceChildren(...lines);
  }

  #fill(index, node) {
    const row = this.#rows[index];
    if (node.parts === undefined) build(node);
    node.setAttribute("role", "listitem");
    const { label, change } = node.parts;
    const gain = row.gain ? `${this.#spelled(Math.abs(row.gain))} ${row.change}` : row.change;
    setVisible(label, row.label);
    setText(change, gain);
    change.className = `change is-${row.change.replaceAll(" ", "-")}`;
    for (const side of SIDES) this.#fillLane(node.parts[side], row[side]);
    setAttribute(node, "aria-label", `${visible(row.label)}: ${SIDES.map((side) => `${side} ${row[side] === null ? "has none" : this.#spelled(row[side].complete)}`).join(", ")}, ${gain}`);
    node.title = node.ariaLabel;
  }

  #fillLane({ grow, done, now }, times) {
    const total = this.#axis.total || 1;
    grow.hidden = done.hidden = times === null;
    now.style.setProperty("left", percent(this.#place / total));
    if (times === null) return;
    const end = times.complete ?? this.#axis.total;
    grow.style.setProperty("left", percent(times.first / total));
    grow.style.setProperty("width", percent((end - times.first) / total));
    done.style.setProperty("left", percent(end / total));
    done.hidden = times.complete === null;
    for (const part of [grow, done]) part.classList.toggle("later", times.first > this.#place || (part === done && end > this.#place));
  }
}

function build(node) {
  const parts = { label: element("span", "label mono"), change: element("span", "change") };
  const lanes = SIDES.map((side) => {
    parts[side] = { grow: element("i", "grow"), done: element("i", "done"), now: element("i", "now-line") };
    return element("span", "lane", parts[side].grow, parts[side].done, parts[side].now);
  });
  node.append(parts.label, ...lanes, parts.change);
  node.parts = parts;
}
