// The service worker: it keeps the files of the playground, all of one build, and answers with them.

const BUILD = "@build@"; // the hash of all files
const FILES = ["@files@"];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(BUILD)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  event.respondWith(answer(event.request));
});

// Other pages of the same origin have caches as well: only those of the playground are forgotten.
async function forgetOthers() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith("unspool-playground-") && name !== BUILD);
  return Promise.all(old.map((name) => caches.delete(name)));
}

async function answer(request) {
  const cache = await caches.open(BUILD);
  const kept = await cache.match(request, { ignoreSearch: true });
  return kept ?? fetch(request);
}
