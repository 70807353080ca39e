// Reads encoded messages with the official clients of the two protocols for pages, and tells what they made of them.
//
// Input: one JSON line for each case, {name, client, stream, kept}: the name of a client below, the body of a response,
// and the body that the client has read before, up to where its connection broke (or null).
// Output: one JSON line for each case, {name, text, reasoning, order, open, calls, results, failure, whole} or
// {name, error}. `whole` is everything that the client has of the message.

import { createInterface } from "node:readline";
import * as ai5 from "ai5";
import * as ai6 from "ai6";
import * as ai7 from "ai7";
import { AbstractAgent } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";
import { Observable } from "rxjs";

function bytes(text) {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

// The message after a stream, which goes on with the message that the page has kept. A broken stream has no end.
async function vercelMessage(ai, stream, before, told) {
  const parsed = ai.parseJsonEventStream({ stream: bytes(stream), schema: ai.uiMessageChunkSchema });
  const chunks = parsed.pipeThrough(
    new TransformStream({
      transform(part, controller) {
        if (!part.success) throw part.error;
        if (part.value.type === "error") told.failure = part.value.errorText;
        else controller.enqueue(part.value);
      },
    }),
  );
  let message = before;
  const options = { stream: chunks, terminateOnError: true, ...(before === null ? {} : { message: before }) };
  for await (const each of ai.readUIMessageStream(options)) message = each;
  return message;
}

async function vercel(ai, stream, kept) {
  const told = { failure: null };
  const before = kept === null ? null : await vercelMessage(ai, kept, null, told);
  const message = await vercelMessage(ai, stream, before, told);
  const { failure } = told;
  const parts = message?.parts ?? [];
  const tools = parts.filter((part) => part.type === "dynamic-tool");
  return {
    text: parts.filter((part) => part.type === "text").map((part) => part.text).join(""),
    reasoning: parts.filter((part) => part.type === "reasoning").map((part) => part.text).join(""),
    order: parts.map((part) => part.type).filter((type) => type !== "step-start"),
    open: parts.filter((part) => part.state === "streaming" || part.state === "input-streaming").length,
    calls: tools.map((part) => [part.toolCallId, part.toolName, part.providerExecuted ?? false]),
    results: tools.filter((part) => part.state.startsWith("output-")).map((part) => part.toolCallId),
    failure,
    whole: { ...message, parts: parts.filter((part) => part.type !== "step-start") },
  };
}

class Recorded extends AbstractAgent {
  constructor(events) {
    super({ threadId: "thread" });
    this.events = events;
  }
  run() {
    return new Observable((observer) => {
      for (const event of this.events) observer.next(event);
      observer.complete();
    });
  }
}

function eventsIn(stream) {
  const frames = stream.split("\n\n").filter((frame) => frame);
  return frames.map((frame) => EventSchemas.parse(JSON.parse(frame.replace(/^data: /, ""))));
}

async function agui(stream, kept) {
  const agent = new Recorded(kept === null ? [] : eventsIn(kept));
  let failure = null;
  if (kept !== null) await agent.runAgent();
  agent.events = eventsIn(stream);
  await agent.runAgent({}, { onRunErrorEvent: ({ event }) => { failure = event.message; } });
  const messages = agent.messages;
  const said = messages.filter((message) => message.role === "assistant");
  return {
    text: said.map((message) => message.content ?? "").join(""),
    reasoning: messages.filter((message) => message.role === "reasoning").map((message) => message.content).join(""),
    order: messages.map((message) => message.role),
    open: 0,
    calls: said.flatMap((message) => message.toolCalls ?? []).map((call) => [call.id, call.function.name, call.function.arguments]),
    results: messages.filter((message) => message.role === "tool").map((message) => message.toolCallId),
    failure,
    whole: messages,
  };
}

const CLIENTS = {
  "ai@5": (stream, kept) => vercel(ai5, stream, kept),
  "ai@6": (stream, kept) => vercel(ai6, stream, kept),
  "ai@7": (stream, kept) => vercel(ai7, stream, kept),
  "@ag-ui/client@1": agui,
};

console.warn = console.error = console.debug = () => {};
for await (const line of createInterface({ input: process.stdin })) {
  const { name, client, stream, kept = null } = JSON.parse(line);
  let answer;
  try {
    answer = await CLIENTS[client](stream, kept);
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify({ name, client, ...answer }) + "\n");
}
