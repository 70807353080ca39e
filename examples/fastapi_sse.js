// Applies the patches of fastapi_sse.py and shows the document. Text goes in by textContent, so it stays text.

let trip = null;
let patches = 0;

function apply(document, { op, path, value }) {
  if (path === "") return value;
  const steps = path.slice(1).split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = steps.pop();
  const holder = steps.reduce((inner, step) => inner[step], document);
  if (op === "append") holder[last] += value;
  else if (op === "remove") Array.isArray(holder) ? holder.splice(Number(last), 1) : delete holder[last];
  else if (Array.isArray(holder) && op === "add") holder.splice(Number(last), 0, value);
  else holder[last] = value;
  return document;
}

function element(name, text, kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function row(activity) {
  const item = document.createElement("li");
  item.append(element("time", activity.time?.slice(0, 5) ?? "··:··"), element("span", activity.name ?? "..."));
  if (activity.type) item.append(element("span", activity.type, "kind"));
  return item;
}

function card(day, isGrowing) {
  const section = document.createElement("section");
  if (isGrowing) section.className = "growing";
  const list = document.createElement("ul");
  list.append(...(day.activities ?? []).map(row));
  section.append(element("h3", day.title ?? "..."), element("p", day.note ?? ""), list);
  return section;
}

function show(isGrowing) {
  const days = trip?.days ?? [];
  document.getElementById("title").textContent = trip?.title ?? "A trip";
  document.getElementById("days").replaceChildren(
    ...days.map((day, index) => card(day, isGrowing && index === days.length - 1)),
  );
  document.getElementById("document").textContent = JSON.stringify(trip, null, 2);
}

function say(text, isWriting = false) {
  document.getElementById("status").textContent = text;
  document.body.classList.toggle("writing", isWriting);
}

const answer = await (await fetch("/trips", { method: "POST" })).json();
const source = new EventSource(answer.events); // it comes back by itself, with Last-Event-ID

source.addEventListener("patch", (event) => {
  for (const operation of JSON.parse(event.data)) trip = apply(trip, operation);
  patches += 1;
  say(`Writing ... ${patches} patches`, true);
  show(true);
});
source.addEventListener("done", () => {
  source.close(); // or the browser would ask again
  say(`Complete, in ${patches} patches.`);
  show(false);
});
source.addEventListener("failed", (event) => {
  source.close();
  say(`Stopped: ${JSON.parse(event.data)}`);
});
