// Characters that cannot be seen, spelled out: control, bidi, zero width, half of a pair. The same ones as in the
// terminal (viewer/escaping.py); here they also look different from a text in which they are spelled.

import { element } from "./dom.js";

const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0]|(?! )\p{Zs}/gu;
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const PLAIN = /^[\x20-\x7e]*$/;

function spelled(character) {
  const code = character.codePointAt(0);
  if (code <= 0xff) return SHORT[character] ?? `\\x${code.toString(16).padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

/** The text as one string in which everything can be seen. */
export function visible(text) {
  return PLAIN.test(text) ? text : text.replace(UNSEEN, spelled);
}

/** Append the text; escaped characters get elements of their own. With `lines`, line ends become line breaks. */
export function appendVisible(parent, text, { lines = false } = {}) {
  if (PLAIN.test(text)) {
    if (text) parent.append(text);
    return parent;
  }
  let done = 0;
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (lines && character === "\n") continue;
    if (index > done) parent.append(text.slice(done, index));
    parent.append(element("span", "unseen", spelled(character)));
    done = index + character.length;
  }
  if (done < text.length) parent.append(text.slice(done));
  return parent;
}

/** Replace the content of an element by such text. */
export function setVisible(node, text) {
  if (node.shown === text) return node;
  node.shown = text;
  node.replaceChildren();
  return appendVisible(node, text);
}
