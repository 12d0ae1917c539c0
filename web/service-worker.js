// Keeps the page's own files, so that it opens without a connection. Answers of the server are never kept here. The build
// puts `BUILD` in front: every file of this build, and those of the first screen.

const CACHE = 'nanoclaw-files'
/** Where the list of this build's files is kept for the worker of the next build. No such file exists. */
const LIST = '/assets/.kept-build'
/** What the page needs to appear. `/` stands for every address of the page. */
const SHELL = ['/', '/boot.css', '/theme.js', '/favicon.svg', '/app.webmanifest', ...BUILD.first]
/** Addresses that the server answers itself. */
const SERVER = /^\/(api|v1|mcp|s|docs|healthz|readyz|metrics)(\/|$)|\.\w+$/

/**
 * What is kept for a request. The files are the same for everybody, but `Vary: Origin` of their responses would tell those
 * kept at the installation, which were asked for without an origin, from those that scripts import, which are not.
 */
const keptFor = (request) => caches.match(request, { ignoreVary: true })

const isOurs = (path) => SHELL.includes(path) || BUILD.files.includes(path)

/** All or nothing, so that the kept page always finds its files. */
async function keepShell() {
  const cache = await caches.open(CACHE)
  await cache.addAll(SHELL.map((path) => new Request(path, { cache: 'no-cache' })))
}

/**
 * Removes what neither this build nor the one before it needs: pages that are open still run the one before, and load more
 * of it when it is first needed. The server no longer has those files.
 */
async function removeOlderBuilds() {
  const cache = await caches.open(CACHE)
  const list = await cache.match(LIST)
  const { current = [], before = [] } = list === undefined ? {} : await list.json()
  const isSame = current.join() === BUILD.files.join()
  const kept = new Set(isSame ? before : current)
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url)
    if (!isOurs(pathname) && !kept.has(pathname)) await cache.delete(request)
  }
  await cache.put(LIST, Response.json({ current: BUILD.files, before: [...kept] }))
}

/** The page from the server, so that a new build is seen at once; the kept one without a connection. */
async function openPage(request) {
  try {
    return await fetch(request)
  } catch (error) {
    const kept = await keptFor('/')
    if (kept === undefined) throw error
    return kept
  }
}

/** A file whose name changes with its content: the kept one is always right. */
async function openAsset(request) {
  const kept = await keptFor(request)
  if (kept !== undefined) return kept
  const response = await fetch(request)
  if (response.ok && isOurs(new URL(request.url).pathname)) {
    const cache = await caches.open(CACHE)
    await cache.put(request, response.clone())
  }
  return response
}

async function openFresh(request) {
  try {
    return await fetch(request)
  } catch (error) {
    const kept = await keptFor(request)
    if (kept === undefined) throw error
    return kept
  }
}

/** Files that the page had loaded before this worker was there. */
async function keepLoaded(paths) {
  const cache = await caches.open(CACHE)
  for (const path of paths)
    if (isOurs(path) && (await keptFor(path)) === undefined) await cache.add(path)
}

// A new build takes over at once: pages ask the server for the page itself, so they never mix two builds.
self.addEventListener('install', (event) =>
  event.waitUntil(keepShell().then(() => self.skipWaiting())),
)
self.addEventListener('activate', (event) =>
  event.waitUntil(removeOlderBuilds().then(() => self.clients.claim())),
)
self.addEventListener('message', (event) => {
  const paths = event.data?.loaded
  if (Array.isArray(paths))
    event.waitUntil(keepLoaded(paths.filter((path) => typeof path === 'string')))
})
self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== self.location.origin) return
  if (request.mode === 'navigate') {
    if (request.destination === 'document' && !SERVER.test(pathname))
      event.respondWith(openPage(request))
  } else if (pathname.startsWith('/assets/')) event.respondWith(openAsset(request))
  else if (SHELL.includes(pathname)) event.respondWith(openFresh(request))
})
