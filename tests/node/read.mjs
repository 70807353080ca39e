// Reads encoded messages with the official clients of the two protocols for pages, and tells what they made of them.
//
// Input: one JSON line for each case, {name, client, stream}: the name of a client below, and the body of a response.
// Output: one JSON line for each case, {name, text, reasoning, calls, results, end} or {name, error}.

import { createInterface } from "node:readline";
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

async function vercel(ai, stream) {
  const parsed = ai.parseJsonEventStream({ stream: bytes(stream), schema: ai.uiMessageChunkSchema });
  let failure = null;
  const chunks = parsed.pipeThrough(
    new TransformStream({
      transform(part, controller) {
        if (!part.success) throw part.error;
        if (part.value.type === "error") failure = part.value.errorText;
        else controller.enqueue(part.value);
      },
    }),
  );
  let message = null;
  for await (const each of ai.readUIMessageStream({ stream: chunks, terminateOnError: true })) message = each;
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

async function agui(stream) {
  const frames = stream.split("\n\n").filter((frame) => frame);
  const events = frames.map((frame) => EventSchemas.parse(JSON.parse(frame.replace(/^data: /, ""))));
  const agent = new Recorded(events);
  let failure = null;
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
  };
}

const CLIENTS = { "ai@6": (stream) => vercel(ai6, stream), "ai@7": (stream) => vercel(ai7, stream), "@ag-ui/client@1": agui };

console.warn = console.error = console.debug = () => {};
for await (const line of createInterface({ input: process.stdin })) {
  const { name, client, stream } = JSON.parse(line);
  let answer;
  try {
    answer = await CLIENTS[client](stream);
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify({ name, client, ...answer }) + "\n");
}
