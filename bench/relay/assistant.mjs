// One process of assistant-stream: a Redis Stream, which each follower polls from its beginning. It has no cursors.
import { createResumableStreamContext } from "assistant-stream/resumable";
import { createRedisResumableStreamStore } from "assistant-stream/resumable/redis";
import { createClient } from "redis";
import { order, play, sleep } from "./roles.mjs";

const client = createClient({ url: order.url });
client.on("error", () => {}); // it reconnects by itself
await client.connect();
const store = createRedisResumableStreamStore(client);
let isProducer = false;
const context = createResumableStreamContext({
  store,
  onAcquire: (_, role) => { isProducer = role === "producer"; },
});

await play({
  async write(name, makeStream) {
    const own = await context.run(name, () => makeStream().pipeThrough(new TextEncoderStream()));
    await own.cancel(); // the producer's own response, which would poll as well
    return isProducer;
  },
  async ended(name) {
    while ((await context.status(name)) === "streaming") await sleep(20);
  },
  async read(name) {
    const stream = await context.resume(name);
    return stream && stream.pipeThrough(new TextDecoderStream());
  },
});
