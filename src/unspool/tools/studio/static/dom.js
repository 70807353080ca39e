// Elements, made and filled. Text of others only ever becomes text nodes.

export const byId = (id) => document.getElementById(id);

/** An element with a class (or none) and children: elements, or strings that become text. */
export function element(tag, className = "", ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Set the text only where it differs, so that nothing is laid out in vain. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute, or take it away with null. */
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

const grouped = new Intl.NumberFormat("en", { useGrouping: true });

export const number = (value) => grouped.format(value);

/** Bytes for people. */
export function bytes(count) {
  if (count < 10_000) return `${number(count)} B`;
  return count < 10_000_000 ? `${number(Math.round(count / 1000))} kB` : `${number(Math.round(count / 1e6))} MB`;
}

/** Seconds for people. */
export function seconds(value) {
  if (value < 0.1 && value > 0) return `${number(Math.round(value * 1e5) / 100)} ms`;
  return `${value.toFixed(value < 100 ? 2 : 1)} s`;
}
