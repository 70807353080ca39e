// The worker: Python, the studio, and the messages between them and the page.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const SITE = "/site";
const waiting = []; // requests that came before Python was ready
let bridge = null;

self.addEventListener("message", ({ data }) => {
  if (bridge === null) waiting.push(data);
  else pass(data);
});

function pass({ number, leave, method, address, headers, body }) {
  if (leave) bridge.leave(number);
  else bridge.send(number, method, address, JSON.stringify(headers), new Uint8Array(body));
}

function post(number, kind, value) {
  const piece = kind === "piece" ? value.toJs() : value;
  if (kind === "piece") value.destroy();
  self.postMessage({ number, kind, value: piece }, kind === "piece" ? [piece.buffer] : []);
}

async function fetched(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.arrayBuffer();
}

async function begin() {
  const manifest = JSON.parse(new TextDecoder().decode(await fetched("manifest.json")));
  const [python, bridgeFile, ...wheels] = await Promise.all([
    loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href }),
    fetched("bridge.py"),
    ...manifest.wheels.map((name) => fetched(`wheels/${name}`)),
  ]);
  for (const wheel of wheels) python.unpackArchive(wheel, "zip", { extractDir: SITE });
  python.FS.writeFile(`${SITE}/bridge.py`, new Uint8Array(bridgeFile));
  const made = python.runPython(`
import json, sys
sys.path.append("${SITE}")
from bridge import Bridge
from unspool.tools.studio.app import Studio

class ForThePage:
    def __init__(self, post):
        self.bridge = Bridge(Studio(None).app, post)

    def send(self, number, method, address, headers, body):
        self.bridge.send(number, method, address, json.loads(headers), body.to_bytes())

    def leave(self, number):
        self.bridge.leave(number)

ForThePage
`);
  bridge = made(post);
  self.postMessage({ kind: "ready", value: python.version });
  for (const request of waiting.splice(0)) pass(request);
}

begin().catch((error) => self.postMessage({ kind: "broken", value: String(error?.message ?? error) }));
