// JSON Patch (RFC 6902) with one operation more: "append" adds text to the end of a string.
// Documents are plain JSON values and are changed in place; a patch that does not fit throws.

const copied = (value) => (value === undefined ? undefined : structuredClone(value));

function steps(pointer) {
  if (pointer === "") return [];
  if (typeof pointer !== "string" || !pointer.startsWith("/")) throw new Error(`no pointer: ${pointer}`);
  return pointer.slice(1).split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function index(list, step, most) {
  const at = step === "-" ? list.length : /^(0|[1-9][0-9]*)$/.test(step) ? Number(step) : NaN;
  if (!(at <= most)) throw new Error(`no place ${step} in a list of ${list.length}`);
  return at;
}

function get(value, step) {
  if (Array.isArray(value)) return value[index(value, step, value.length - 1)];
  if (value === null || typeof value !== "object" || !Object.hasOwn(value, step)) throw new Error(`nothing at ${step}`);
  return value[step];
}

// What is called __proto__ in a document is a member like any other.
const put = (value, step, item) =>
  Object.defineProperty(value, step, { value: item, writable: true, enumerable: true, configurable: true });

function equal(one, two) {
  if (one === two) return true;
  if (one === null || two === null || typeof one !== "object" || typeof two !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(two)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(two).length && keys.every((key) => Object.hasOwn(two, key) && equal(one[key], two[key]));
}

function add(root, path, item) {
  if (!path.length) return item;
  const parent = path.slice(0, -1).reduce(get, root);
  const last = path.at(-1);
  if (Array.isArray(parent)) parent.splice(index(parent, last, parent.length), 0, item);
  else if (parent === null || typeof parent !== "object") throw new Error("no container");
  else put(parent, last, item);
  return root;
}

function remove(root, path) {
  if (!path.length) return undefined;
  const parent = path.slice(0, -1).reduce(get, root);
  get(parent, path.at(-1));
  if (Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1);
  else delete parent[path.at(-1)];
  return root;
}

function replace(root, path, item) {
  if (!path.length) return item;
  const parent = path.slice(0, -1).reduce(get, root);
  get(parent, path.at(-1));
  if (Array.isArray(parent)) parent[Number(path.at(-1))] = item;
  else put(parent, path.at(-1), item);
  return root;
}

function applyOne(root, operation) {
  const path = steps(operation.path);
  switch (operation.op) {
    case "add":
      return add(root, path, copied(operation.value));
    case "remove":
      return remove(root, path);
    case "replace":
      return replace(root, path, copied(operation.value));
    case "move": {
      const from = steps(operation.from);
      const item = from.reduce(get, root);
      return add(remove(root, from), path, item);
    }
    case "copy":
      return add(root, path, copied(steps(operation.from).reduce(get, root)));
    case "test":
      if (!equal(path.reduce(get, root), operation.value)) throw new Error(`a test failed at ${operation.path}`);
      return root;
    case "append": {
      const text = path.reduce(get, root);
      if (typeof text !== "string") throw new Error(`no text at ${operation.path}`);
      return replace(root, path, text + operation.value);
    }
    default:
      throw new Error(`no such operation: ${operation.op}`);
  }
}

/** The document after the operations. The one that is handed over is used up. */
export function apply(root, operations) {
  return operations.reduce(applyOne, root);
}
