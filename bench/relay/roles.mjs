// What the processes of Node have in common: their roles, which are those of ours.py. A peer plays them with its store,
//   write(name, makeStream)   resolves to false if another process writes; makeStream makes a stream of strings
//   ended(name)               resolves when the end is stored
//   read(name, after)         resolves to a stream of strings, or null if there is nothing to read
//   position(characters)      resolves to the cursor after so many characters that were written, if there are cursors
import { createInterface } from "node:readline";

export const order = JSON.parse(process.argv[2]);
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const told = () => lines.next();
export const say = (words) => process.stdout.write(`${JSON.stringify(words)}\n`);
const micros = () => Number(process.hrtime.bigint() / 1000n);
const FOREVER = 1e8;

function cpuMicros(since) {
  const used = process.cpuUsage(since);
  return used.user + used.system;
}

async function write({ write, ended }) {
  let closed;
  const closing = new Promise((resolve) => { closed = resolve; });
  const makeStream = () =>
    new ReadableStream({
      async start(controller) {
        await told();
        const cpu = process.cpuUsage();
        const started = micros();
        for (let number = 0; number < order.count; number++) {
          const early = started + (number * 1e6) / order.rate - micros();
          await sleep(Math.max(early / 1000, 0));
          controller.enqueue(`${String(number).padStart(7, "0")} ${String(micros()).padStart(16, "0")}\n`);
        }
        await sleep(50);
        say({ cpu_us: cpuMicros(cpu) / order.count });
        await told();
        controller.close();
        closed();
      },
    });
  if (!(await write(order.name, makeStream))) return say({ refused: true });
  say({ ready: true });
  await closing;
  await ended(order.name);
  say({ ended: true });
  await sleep(FOREVER);
}

async function write_words({ write, position }) {
  let mark = "";
  const makeStream = () =>
    new ReadableStream({
      async start(controller) {
        let characters = 0;
        for (let number = 0; number < order.count; number++) {
          if (number === order.mark && position) {
            await sleep(300); // until the store has what was written so far
            mark = await position(characters);
          }
          const frame = `data: ${JSON.stringify({ type: "text-delta", id: "t0", delta: `w${number} ` })}\n\n`;
          characters += frame.length;
          controller.enqueue(frame);
        }
        await sleep(700);
        say({ mark });
        await sleep(FOREVER);
      },
    });
  await write(order.name, makeStream);
  await sleep(FOREVER);
}

class Follower {
  constructor() {
    this.askedAt = micros() / 1e6;
    this.times = [];
    this.texts = [];
    this.ended = false;
    this.error = null;
    this.noticedAt = null;
    this.stream = null;
  }

  fail(error) {
    this.error = String(error);
    this.noticedAt = micros() / 1e6;
    say({ noticed_at: this.noticedAt });
  }

  async open(read) {
    try {
      this.stream = await read(order.name, "");
      if (!this.stream) this.fail("it gets `null`");
    } catch (error) {
      this.fail(error);
    }
  }

  async listen() {
    if (!this.stream) return;
    try {
      for await (const text of this.stream) {
        this.times.push(micros());
        this.texts.push(text);
      }
      this.ended = true;
    } catch (error) {
      this.fail(error);
    }
  }

  get whole() {
    return this.texts.join("");
  }
}

async function follow({ read }) {
  const followers = Array.from({ length: order.followers }, () => new Follower());
  await Promise.all(followers.map((each) => each.open(read)));
  say({ ready: true });
  const cpu = process.cpuUsage();
  await Promise.race([Promise.all(followers.map((each) => each.listen())), sleep(order.patience * 1000)]);
  report(followers, cpuMicros(cpu) / 1e6);
  await told();
  process.exit(0);
}

function report(followers, cpu) {
  const [one] = followers;
  const ages = [];
  for (const { times, texts } of followers) {
    for (const [index, text] of texts.entries()) {
      for (const line of text.split("\n")) if (line) ages.push((times[index] - Number(line.slice(8))) / 1000);
    }
  }
  ages.sort((a, b) => a - b);
  const whole = one.whole;
  const pauses = one.times.slice(1).map((arrived, index) => (arrived - one.times[index]) / 1e6);
  say({
    p50: ages[Math.floor(ages.length / 2)] ?? 0,
    p99: ages[Math.floor(ages.length * 0.99)] ?? 0,
    cpu,
    same: followers.every((each) => each.whole === whole && each.ended === one.ended),
    numbers: whole.split("\n").filter(Boolean).map((line) => Number(line.slice(0, 7))),
    pause: Math.max(0, ...pauses),
    ended: one.ended,
    error: one.error,
    asked_at: one.askedAt,
    noticed_at: one.noticedAt,
  });
}

async function join({ read }) {
  say({ ready: true });
  await told();
  const started = process.hrtime.bigint();
  const stream = await read(order.name, order.after);
  const last = `w${order.count - 1} `;
  let body = "";
  for await (const text of stream.values({ preventCancel: true })) {
    body += text;
    if (body.includes(last)) break;
  }
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  say({ ms, bytes: Buffer.byteLength(body), before_news: body.indexOf(`w${order.mark} `) });
  await told();
  process.exit(0);
}

export async function play(store) {
  // As frameworks do: one failed promise does not end the server.
  process.on("unhandledRejection", (error) => console.error(`unhandled: ${error}`));
  await { write, write_words, follow, join }[order.role](store);
}
