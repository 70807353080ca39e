// One process of resumable-stream: Redis carries the pieces by pub/sub, and the producer keeps them.
import { createResumableStreamContext } from "resumable-stream/generic";
import { createClient } from "redis";
import { order, play, sleep } from "./roles.mjs";

async function connected() {
  const client = createClient({ url: order.url });
  client.on("error", () => {}); // it reconnects by itself
  await client.connect();
  return client;
}

const context = createResumableStreamContext({
  waitUntil: null,
  subscriber: await connected(),
  publisher: await connected(),
});

async function drain(stream) {
  for await (const _ of stream) {
    // the producer's own response
  }
}

await play({
  async write(name, makeStream) {
    drain(await context.createNewResumableStream(name, makeStream));
    return true;
  },
  async ended(name) {
    while ((await context.hasExistingStream(name)) !== "DONE") await sleep(20);
  },
  read: (name, after) => context.resumeExistingStream(name, after ? Number(after) : undefined),
  position: async (characters) => String(characters),
});
