// One process of durable-streams: its development server with a store in memory, or a client of it over HTTP.
import { DurableStream, stream } from "@durable-streams/client";
import { DurableStreamTestServer } from "@durable-streams/server";
import { order, play, say } from "./roles.mjs";

if (order.role === "serve") {
  const server = new DurableStreamTestServer({ port: 0, host: "127.0.0.1", compression: false });
  say({ url: await server.start() });
} else {
  const at = (name) => `${order.url}/${name}`;
  let handle;
  let closed;

  async function pump(source) {
    let last;
    for await (const text of source) last = handle.append(text); // it collects while a request is under way
    await last;
    await handle.close();
  }

  await play({
    async write(name, makeStream) {
      handle = await DurableStream.create({ url: at(name), contentType: "text/plain" });
      closed = pump(makeStream());
      return true;
    },
    ended: () => closed,
    async read(name, after) {
      const response = await stream({ url: at(name), offset: after || "-1", live: "sse", warnOnHttp: false });
      return response.textStream();
    },
    position: async () => (await handle.head()).offset,
  });
}
