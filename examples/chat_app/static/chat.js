// The page of a chat. Each answer is a stream; what a stream shows goes in by textContent, so it stays text.

import { follow } from "/static/relay.js";

const base = location.pathname;
const list = document.getElementById("turns");
const form = document.getElementById("form");
const prompt = document.getElementById("prompt");
const shown = []; // one turn per question

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// ---- parts: each is drawn again only if it is another object, because patches keep what they do not touch

function drawText(node, part) {
  node.textContent = part.text;
}

function drawReasoning(node, part) {
  if (!node.firstChild) node.append(element("summary", "", "Thinking"), element("p"));
  node.lastChild.textContent = part.text;
  node.open = !part.is_complete;
}

function drawCall(node, part) {
  const { title = "", stops = [] } = part.value ?? {};
  const items = stops.map((stop) => element("li", "", stop));
  const listed = element("ol");
  listed.append(...items);
  node.replaceChildren(element("h3", "", title || part.name), listed);
}

const KINDS = {
  text: ["div", "text", drawText],
  reasoning: ["details", "reasoning", drawReasoning],
  tool_call: ["section", "call", drawCall],
};

class Turn {
  constructor(question, number) {
    this.address = `${base}/turns/${number}`;
    this.drawn = [];
    this.nodes = [];
    this.node = element("article", "turn");
    this.answer = element("div", "answer");
    this.footer = element("footer");
    this.state = element("span", "state");
    this.writer = element("code", "writer");
    this.stop = element("button", "stop", "Stop");
    this.stop.addEventListener("click", () => this.cancel());
    this.footer.append(this.state, this.writer, this.stop);
    this.node.append(element("p", "question", question), this.answer, this.footer);
    list.append(this.node);
    this.stream = follow(`${this.address}/events`);
    this.stream.subscribe((view) => this.show(view));
    this.show(this.stream.view);
    this.watch();
  }

  show({ document: message, status, connection, isStalled, error }) {
    const isNear = innerHeight + scrollY > document.body.scrollHeight - 120;
    const parts = message?.parts ?? [];
    parts.forEach((part, number) => {
      if (this.drawn[number] === part) return;
      const [name, className, draw] = KINDS[part.type] ?? ["div", "other", () => {}];
      this.nodes[number] ??= this.answer.appendChild(element(name, className));
      draw(this.nodes[number], part);
      this.drawn[number] = part;
    });
    for (const node of this.nodes.splice(parts.length)) node.remove();
    this.drawn.length = parts.length;
    const isOpen = status === "open" || status === null;
    this.node.dataset.status = error ? "gone" : isStalled ? "stalled" : isOpen ? connection : status;
    this.state.textContent = error
      ? "This answer is not kept any more."
      : isStalled
        ? "The worker is gone; another one takes over ..."
        : isOpen && connection === "waiting"
          ? "Connection lost; trying again ..."
          : { done: "", cancelled: "Stopped.", error: "The answer failed.", lost: "The answer was lost." }[status] ?? "Writing ...";
    this.stop.hidden = !isOpen;
    this.writer.hidden = !isOpen;
    if (isNear) scrollTo(0, document.body.scrollHeight);
  }

  // The worker that gets the request may die with it, so the page asks until it has an answer.
  async cancel() {
    this.stop.disabled = true;
    while (this.stream.view.connection !== "closed") {
      const answer = await fetch(`${this.address}/cancel`, { method: "POST" }).catch(() => null);
      if (answer !== null && answer.status < 500) break;
      await new Promise((done) => setTimeout(done, 1000));
    }
  }

  // Who writes is no part of the stream, so the page asks.
  async watch() {
    while (this.stream.view.connection !== "closed") {
      try {
        const { writer, server } = await (await fetch(this.address)).json();
        const pid = writer?.replace("worker-", "");
        this.writer.textContent = pid ? `kill -9 ${pid}` : "";
        this.writer.title = `Written by ${writer}, read from ${server}`;
      } catch {
        // The server is away. The stream comes back by itself.
      }
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

// ---- the chat

function add(question) {
  shown.push(new Turn(question, shown.length));
  document.title = shown[0].node.firstChild.textContent;
}

async function load() {
  const answer = await fetch(`${base}/turns`);
  if (!answer.ok) return;
  const { prompts, is_durable } = await answer.json();
  document.getElementById("mode").textContent = is_durable ? "two workers, one Redis" : "one process, without Redis";
  for (const question of prompts.slice(shown.length)) add(question);
}

async function ask() {
  const question = prompt.value.trim();
  if (!question) return;
  prompt.value = "";
  const answer = await fetch(`${base}/turns`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ prompt: question }),
  }).catch(() => null);
  if (!answer?.ok) {
    prompt.value ||= question; // to ask again
    return;
  }
  await load();
  scrollTo(0, document.body.scrollHeight);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
prompt.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  ask();
});
// Another device may have asked meanwhile.
addEventListener("focus", load);
document.addEventListener("visibilitychange", () => document.hidden || load());
await load();
window.turns = shown;
