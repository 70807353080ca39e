// The pure functions of the browser client, and its connection against a server of this process. Run by node --test.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const { BLANK, EventReader, PatchError, Stream, advance, apply, follow } = await import(
  pathToFileURL(process.env.RELAY_CLIENT).href
);

const until = async (isSo, patience = 60_000) => {
  const end = Date.now() + patience;
  while (!isSo()) {
    if (Date.now() > end) throw new Error("waited in vain");
    await new Promise((done) => setTimeout(done, 5));
  }
};

const frame = (type, id, data) => `event: ${type}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

// A server that answers the requests one after the other, and remembers them.
async function serving(answers, act) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    answer(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await act(`http://127.0.0.1:${server.address().port}/streams/a`, asked, server);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const events = (...frames) => (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(frames.join(""));
};
const status = (code, headers = {}) => (response) => {
  response.writeHead(code, headers);
  response.end();
};

// ---- documents

test("a patch copies the way to the change, and keeps everything else", () => {
  const before = { title: "Trip", days: [{ name: "one" }, { name: "two" }], meta: { tags: ["a"] } };
  const copy = structuredClone(before);
  const after = apply(before, [{ op: "append", path: "/days/1/name", value: "!" }]);
  assert.deepEqual(before, copy);
  assert.equal(after.days[1].name, "two!");
  assert.notEqual(after, before);
  assert.notEqual(after.days, before.days);
  assert.notEqual(after.days[1], before.days[1]);
  assert.equal(after.days[0], before.days[0]);
  assert.equal(after.meta, before.meta);
});

test("a patch without operations changes nothing", () => {
  const before = { a: [1] };
  assert.equal(apply(before, []), before);
});

test("a patch writes to its own copies only, also after copy", () => {
  const before = { a: { list: [1] } };
  const after = apply(before, [
    { op: "add", path: "/a/list/-", value: 2 },
    { op: "copy", from: "/a", path: "/b" },
    { op: "add", path: "/a/list/-", value: 3 },
  ]);
  assert.deepEqual(after, { a: { list: [1, 2, 3] }, b: { list: [1, 2] } });
  assert.deepEqual(before, { a: { list: [1] } });
});

test("the values of a patch never change either", () => {
  const operations = [
    { op: "add", path: "", value: { list: [] } },
    { op: "add", path: "/list/0", value: 1 },
  ];
  const copy = structuredClone(operations);
  assert.deepEqual(apply(null, operations), { list: [1] });
  assert.deepEqual(operations, copy);
});

test("frozen documents can be patched", () => {
  const deep = (value) => (typeof value === "object" && value ? Object.freeze((Object.values(value).forEach(deep), value)) : value);
  const after = apply(deep({ a: [{ b: "x" }] }), [{ op: "append", path: "/a/0/b", value: "y" }]);
  assert.deepEqual(after, { a: [{ b: "xy" }] });
});

test("a member that is called __proto__ is a member", () => {
  const value = JSON.parse('{"__proto__": {"polluted": true}}');
  let document = apply({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]);
  assert.deepEqual(Object.keys(document), ["__proto__"]);
  assert.equal({}.polluted, undefined);
  assert.equal(document.polluted, undefined);
  document = apply({ inner: value }, [{ op: "replace", path: "/inner/__proto__/polluted", value: "yes" }]);
  assert.equal(JSON.stringify(document), '{"inner":{"__proto__":{"polluted":"yes"}}}');
  assert.equal({}.polluted, undefined);
  for (const path of ["/__proto__/x", "/constructor/prototype/x", "/toString"]) {
    assert.throws(() => apply({}, [{ op: "replace", path, value: 1 }]), PatchError);
  }
});

test("an error names the operation", () => {
  assert.throws(
    () => apply({ a: 1 }, [{ op: "test", path: "/a", value: 1 }, { op: "append", path: "/a", value: "x" }]),
    (error) => error instanceof PatchError && error.index === 1 && error.pointer === "/a",
  );
});

test("appending to a text is linear", () => {
  const time = (count) => {
    let document = { parts: [{ text: "" }] };
    const patch = [{ op: "append", path: "/parts/0/text", value: "word " }];
    const start = performance.now();
    for (let at = 0; at < count; at += 1) document = apply(document, patch);
    assert.equal(document.parts[0].text.length, count * 5);
    return performance.now() - start;
  };
  time(20_000);
  const ratio = time(160_000) / Math.max(time(20_000), 1);
  assert.ok(ratio < 40, `eight times the text took ${ratio} times as long`);
});

// ---- events

test("events are the same however the text is cut", () => {
  const text = "\ufeffretry: 1500\r\n: hi\r\nevent: snapshot\r\nid: 1-2\r\ndata: {\r\ndata:  \"ä\":1}\r\n\r\nid: 3-4\n\ndata\rdata\r\r";
  const whole = new EventReader();
  const expected = whole.read(text);
  assert.deepEqual(expected, [
    { type: "snapshot", id: "1-2", data: '{\n "ä":1}' },
    { type: "message", id: "3-4", data: null },
    { type: "message", id: "3-4", data: "\n" },
  ]);
  assert.equal(whole.retry, 1500);
  for (let cut = 0; cut <= text.length; cut += 1) {
    const reader = new EventReader();
    assert.deepEqual([...reader.read(text.slice(0, cut)), ...reader.read(""), ...reader.read(text.slice(cut))], expected);
  }
  const slow = new EventReader();
  assert.deepEqual([...text].flatMap((character) => slow.read(character)), expected);
});

test("views are immutable, and unknown events change nothing", () => {
  const first = advance(BLANK, { type: "snapshot", id: "1-1", data: '{"document":{"a":{},"b":"x"},"status":"open"}' });
  const second = advance(first, { type: "patch", id: "2-1", data: '[{"op":"append","path":"/b","value":"y"}]' });
  assert.ok(Object.isFrozen(second));
  assert.equal(first.document.b, "x");
  assert.equal(second.document.b, "xy");
  assert.equal(second.document.a, first.document.a);
  assert.equal(second.cursor, "2-1");
  assert.equal(advance(second, { type: "later", id: "2-1", data: "{}" }), second);
  assert.equal(advance(second, { type: "stalled", id: "2-1", data: '{"since":1}' }).isStalled, true);
  assert.equal(advance(second, { type: "end", id: "3-1", data: '{"status":"done"}' }).status, "done");
  assert.throws(() => advance(BLANK, { type: "patch", id: "1-1", data: "[]" }));
});

// ---- the connection

const SNAPSHOT = frame("snapshot", "1-9", { document: { text: "a" }, status: "open" });
const PATCH = frame("patch", "2-9", [{ op: "append", path: "/text", value: "b" }]);
const END = frame("end", "3-9", { status: "done" });

test("a stream is followed over cut connections, each entry once", async () => {
  const cut = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`retry: 20\n${SNAPSHOT}${PATCH.slice(0, -1)}`); // the last event is not whole
    setTimeout(() => response.destroy(), 20);
  };
  await serving([cut, status(503), events(PATCH), events(END)], async (url, asked) => {
    const seen = [];
    const stream = follow(url);
    stream.subscribe(({ connection }) => seen.push(connection));
    const view = await stream.ended;
    assert.deepEqual(view.document, { text: "ab" });
    assert.equal(view.status, "done");
    assert.deepEqual(view.end, { status: "done" });
    assert.equal(view.connection, "closed");
    assert.deepEqual(asked, ["/streams/a", "/streams/a?after=1-9", "/streams/a?after=1-9", "/streams/a?after=2-9"]);
    assert.ok(seen.includes("waiting"));
    assert.equal(stream.getSnapshot(), view);
  });
});

test("204 ends a stream that was over, and a kept view stays", async () => {
  await serving([status(204)], async (url, asked) => {
    const view = { document: { text: "ab" }, status: "done", cursor: "3-9", end: { status: "done" } };
    const last = await follow(url, { view }).ended;
    assert.deepEqual(asked, ["/streams/a?after=3-9"]);
    assert.equal(last.status, "done");
    assert.equal(last.document, view.document);
  });
});

for (const code of [401, 403, 404, 410]) {
  test(`status ${code} is final`, async () => {
    await serving([status(code)], async (url, asked) => {
      const view = await follow(url).ended;
      assert.equal(view.error.status, code);
      await new Promise((done) => setTimeout(done, 50));
      assert.equal(asked.length, 1);
    });
  });
}

test("what is no stream of events is refused", async () => {
  await serving([(response) => response.end("<html>")], async (url) => {
    assert.match((await follow(url).ended).error.message, /not a stream/);
  });
});

test("a patch that does not fit asks for the whole document", async () => {
  const wrong = frame("patch", "2-9", [{ op: "append", path: "/nothing", value: "b" }]);
  const again = frame("snapshot", "2-9", { document: { text: "ab" }, status: "open" });
  await serving([events("retry: 10\n", SNAPSHOT, wrong), events(again, END)], async (url, asked) => {
    const view = await follow(url).ended;
    assert.deepEqual(asked, ["/streams/a", "/streams/a"]);
    assert.deepEqual(view.document, { text: "ab" });
  });
});

test("a silent connection counts as lost", async () => {
  const silent = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`retry: 10\n${SNAPSHOT}`);
  };
  await serving([silent, events(PATCH, END)], async (url, asked) => {
    const view = await follow(url, { silence: 1500 }).ended;
    assert.equal(view.document.text, "ab");
    assert.equal(asked.length, 2);
  });
});

test("closing ends the request, and nothing is told after it", async () => {
  let gone = false;
  const open = (response) => {
    response.on("close", () => (gone = true));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(SNAPSHOT);
  };
  await serving([open], async (url) => {
    const controller = new AbortController();
    const stream = new Stream(url, { signal: controller.signal });
    const told = [];
    stream.subscribe((view) => told.push(view.connection));
    await until(() => stream.view.status === "open");
    controller.abort();
    assert.equal((await stream.ended).connection, "closed");
    await until(() => gone);
    assert.equal(told.at(-1), "closed");
    assert.equal(stream.view.status, "open"); // leaving is not cancelling
  });
});

test("a broken listener breaks nothing, and unsubscribing works", async () => {
  await serving([events(SNAPSHOT, PATCH, END)], async (url) => {
    const told = [];
    const reported = globalThis.reportError;
    globalThis.reportError = (error) => told.push(error.message);
    try {
      const stream = follow(url);
      stream.subscribe(() => {
        throw new Error("broken");
      });
      const leave = stream.subscribe(() => told.push("never"));
      leave();
      assert.equal((await stream.ended).document.text, "ab");
      assert.ok(told.length > 0 && told.every((words) => words === "broken"));
    } finally {
      globalThis.reportError = reported;
    }
  });
});

test("headers may be a function, asked for each request", async () => {
  let count = 0;
  const got = [];
  const fetched = (url, options) => {
    got.push(options.headers.authorization);
    return fetch(url, options);
  };
  await serving([events("retry: 10\n", SNAPSHOT), events(END)], async (url) => {
    await follow(url, { fetch: fetched, headers: () => ({ authorization: `token ${(count += 1)}` }) }).ended;
    assert.deepEqual(got, ["token 1", "token 2"]);
  });
});
