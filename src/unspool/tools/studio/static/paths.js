// Paths as the server writes them, $.days[0]["a key"], as their steps; and the path of each line of indented JSON.

const SEGMENT = /\.([^.[]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/suy;
const MEMBER = /^ *("(?:[^"\\]|\\.)*"): (.*)$/su;

/** A path as a string that is the same for the same steps, or null for an invalid path. */
export function canonical(path) {
  if (!path.startsWith("$")) return null;
  const steps = [];
  SEGMENT.lastIndex = 1;
  while (SEGMENT.lastIndex < path.length) {
    const match = SEGMENT.exec(path);
    if (match === null) return null;
    steps.push(match[1] ?? (match[2] === undefined ? JSON.parse(match[3]) : Number(match[2])));
  }
  return JSON.stringify(steps);
}

/** The canonical forms of a path and of everything around it. */
export function outer(path) {
  const steps = JSON.parse(canonical(path) ?? "[]");
  return [...steps, null].map((_, count) => JSON.stringify(steps.slice(0, count)));
}

/** The lines of an indented text, each with the path of its value and the paths of the containers around it;
 *  `isEnd` marks a closing bracket. The end of the text may be cut. */
export function linesWithPaths(text) {
  const steps = []; // of the containers that are open, and of the last value in them
  const counts = []; // of items, where the container is an array; otherwise -1
  return text.split("\n").map((line) => {
    const member = MEMBER.exec(line);
    const rest = member === null ? line.trim() : member[2];
    if (/^[\]}],?$/.test(rest) && member === null) {
      steps.length = counts.length - 1;
      counts.pop();
      return { ...placed(line, steps), isEnd: true };
    }
    if (counts.length) {
      const count = counts.at(-1);
      steps.length = counts.length - 1;
      if (count >= 0) counts[counts.length - 1] = count + 1;
      steps.push(count >= 0 ? count : member === null ? "" : JSON.parse(member[1]));
    }
    const found = placed(line, steps);
    if (rest === "{") counts.push(-1);
    else if (rest === "[") counts.push(0);
    return found;
  });
}

function placed(line, steps) {
  const around = steps.map((_, count) => JSON.stringify(steps.slice(0, count)));
  return { line, path: JSON.stringify(steps), around, isEnd: false };
}
