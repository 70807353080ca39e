// Applies the patches of fastapi_sse.py and shows the document. Text goes in by textContent, so it stays text.

let trip = null;
let patches = 0;

function apply(document, { op, path, value }) {
  if (path === "") return value;
  const steps = path.slice(1).split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = steps.pop();
  const holder = steps.reduce((inner, step) => inner[step], document);
  if (op === "append") holder[last] += value;
  else if (Array.isArray(holder) && op === "add") holder.splice(Number(last), 0, value);
  else holder[last] = value;
  return document;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function show() {
  document.getElementById("title").textContent = trip.title ?? "A trip";
  const days = (trip.days ?? []).map((day) => {
    const section = document.createElement("section");
    section.append(element("h3", day.title ?? "..."), element("p", day.note ?? ""));
    const list = document.createElement("ul");
    for (const activity of day.activities ?? []) {
      list.append(element("li", `${activity.time ?? "--:--"} ${activity.name ?? ""} (${activity.type ?? "?"})`));
    }
    section.append(list);
    return section;
  });
  document.getElementById("days").replaceChildren(...days);
  document.getElementById("document").textContent = JSON.stringify(trip, null, 2);
}

function say(text) {
  document.getElementById("status").textContent = text;
}

const answer = await (await fetch("/trips", { method: "POST" })).json();
const source = new EventSource(answer.events); // it comes back by itself, with Last-Event-ID

source.addEventListener("patch", (event) => {
  for (const operation of JSON.parse(event.data)) trip = apply(trip, operation);
  patches += 1;
  say(`Writing ... ${patches} patches`);
  show();
});
source.addEventListener("done", () => {
  source.close(); // or the browser would ask again
  say(`Complete, in ${patches} patches.`);
});
source.addEventListener("failed", (event) => {
  source.close();
  say(`Stopped: ${JSON.parse(event.data)}`);
});
