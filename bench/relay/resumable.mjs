// One process of resumable-stream. Its order is a JSON object; ours.py has the same roles.
import { createInterface } from "node:readline";
import { createResumableStreamContext } from "resumable-stream/generic";
import { createClient } from "redis";

const order = JSON.parse(process.argv[2]);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const told = () => lines.next();
const say = (words) => process.stdout.write(`${JSON.stringify(words)}\n`);
const micros = () => Number(process.hrtime.bigint() / 1000n);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

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

function cpuMicros(since) {
  const used = process.cpuUsage(since);
  return used.user + used.system;
}

async function write() {
  let cpu;
  let started;
  const makeStream = () =>
    new ReadableStream({
      async start(controller) {
        await told();
        cpu = process.cpuUsage();
        started = micros();
        for (let number = 0; number < order.count; number++) {
          const early = started + (number * 1e6) / order.rate - micros();
          await sleep(Math.max(early / 1000, 0));
          controller.enqueue(`${String(number).padStart(7, "0")} ${String(micros()).padStart(16, "0")}\n`);
        }
        await sleep(50);
        say({ cpu_us: cpuMicros(cpu) / order.count });
        await told();
        controller.close();
      },
    });
  drain(await context.createNewResumableStream(order.name, makeStream));
  say({ ready: true });
  while ((await context.hasExistingStream(order.name)) !== "DONE") await sleep(20);
  say({ ended: true });
  await sleep(1e8);
}

async function write_words() {
  let mark = 0;
  let hold;
  const makeStream = () =>
    new ReadableStream({
      async start(controller) {
        for (let number = 0; number < order.count; number++) {
          const frame = `data: ${JSON.stringify({ type: "text-delta", id: "t0", delta: `w${number} ` })}\n\n`;
          if (number < order.mark) mark += frame.length;
          controller.enqueue(frame);
        }
        hold = await told();
        controller.close();
      },
    });
  drain(await context.createNewResumableStream(order.name, makeStream));
  await sleep(500);
  say({ mark: String(mark) });
  await sleep(1e8);
}

async function follow() {
  const times = [];
  const messages = [];
  const texts = [];
  let ended = false;
  let error = null;
  const readers = [];
  for (let index = 0; index < order.followers; index++) {
    readers.push(context.resumeExistingStream(order.name).catch((caught) => { error = String(caught); }));
  }
  const streams = await Promise.all(readers);
  say({ ready: true });
  const cpu = process.cpuUsage();
  const readAll = Promise.all(
    streams.map(async (stream, index) => {
      texts[index] = [];
      if (!stream) return;
      for await (const message of stream) {
        texts[index].push(message);
        times.push(micros());
        messages.push(message);
      }
      ended = true;
    }),
  ).catch((caught) => { error = String(caught); });
  await Promise.race([readAll, sleep(order.patience * 1000)]);
  const used = cpuMicros(cpu) / 1e6;
  const ages = [];
  for (const [index, message] of messages.entries()) {
    for (const line of message.split("\n")) if (line) ages.push((times[index] - Number(line.slice(8))) / 1000);
  }
  ages.sort((a, b) => a - b);
  const whole = texts.map((each) => each.join(""));
  const numbers = whole[0].split("\n").filter(Boolean).map((line) => Number(line.slice(0, 7)));
  const same = whole.every((text) => text === whole[0]);
  const p50 = ages[Math.floor(ages.length / 2)] ?? 0;
  const p99 = ages[Math.floor(ages.length * 0.99)] ?? 0;
  say({ p50, p99, cpu: used, same, numbers, ended: ended || !streams[0], stalled_at: null, error });
  await told();
  process.exit(0);
}

async function join() {
  say({ ready: true });
  await told();
  const started = process.hrtime.bigint();
  const stream = await context.resumeExistingStream(order.name, order.after ? Number(order.after) : undefined);
  const last = `w${order.count - 1} `;
  let body = "";
  for await (const message of stream) {
    body += message;
    if (body.includes(last)) break;
  }
  say({ ms: Number(process.hrtime.bigint() - started) / 1e6, bytes: Buffer.byteLength(body) });
  await told();
  process.exit(0);
}

await { write, write_words, follow, join }[order.role]();
