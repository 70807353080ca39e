// The facts about a whole session, and about a step in the lines below the panels.

import { byId, number, setText } from "./dom.js";
import { setVisible, visible } from "./visible.js";

/** The head of the page, from the session document and from what it was opened from (null: from elsewhere). */
export function showHeading(known, source) {
  const title = visible(known.title ?? "");
  setText(byId("title"), title);
  byId("title").title = title;
  document.title = title ? `${title} - unspool studio` : "unspool studio";
  showKind(byId("kind"), known.kind, source);
  setText(byId("format"), known.format ? `format: ${known.format}${source?.format ? "" : " (detected)"}` : "");
  setText(byId("schema"), known.type ? `Type: ${visible(known.type)}` : known.schema ? "Schema: on" : "Schema");
  const rate = known.is_timed ? "" : "The input has no times: it is played at a steady rate.";
  setText(byId("about"), rate || `${number(known.characters)} characters`);
  document.body.classList.toggle("is-live", known.is_live && !known.is_finished);
}

function showKind(field, kind, source) {
  const isChosen = Boolean(source?.kind);
  setText(field.options[0], isChosen || !kind ? "detect" : `${kind} (detected)`);
  field.value = isChosen ? source.kind : "";
  field.disabled = source === null;
  field.title = source === null ? "What came from elsewhere is read as what it was opened as." : "";
}

/** Below the text what is expected, or what is wrong; below the tree how many nodes there are, and what is open. */
export function showFeet({ error, expecting, open_path, tree: { total }, state, flaws, track }, isFiltered) {
  byId("text-foot").classList.toggle("wrong", error !== null);
  const flaw = flaws.find((one) => one.kind === "syntax" && one.track === track); // it also says why a text is cut off
  put("text-foot", error !== null ? (flaw ?? error).text : expecting ? `expecting ${expecting}` : "");
  const rows = `${number(total)} ${isFiltered ? "that match" : total === 1 ? "node" : "nodes"}`;
  const isOpen = state.is_complete === false && open_path;
  const place = error !== null ? `error in ${error.path}` : isOpen ? `open: ${open_path}` : "";
  put("tree-foot", place ? `${rows}   ${place}` : rows);
}

function put(id, text) {
  setVisible(byId(id), text);
  byId(id).title = visible(text);
}
