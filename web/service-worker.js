// The service worker: caches the page's files, so that it opens without a connection, and shows push notifications. It never
// caches responses of the API. The build prepends `BUILD`: all files of this build, and those to cache at once.

/** The path of the page below its host, without a slash at the end. As in src/lib/base-path.ts, the storage is its own. */
const BASE = new URL('.', self.location).pathname.slice(0, -1)
const CACHE = `nanoclaw-files${BASE}`
/** The cache key of the list of this build's files, for the worker of the next build. No such file exists. */
const LIST = `${BASE}/assets/.kept-build`
/** The files that the page needs to open. `/` stands for every URL of the page. */
const SHELL = ['/', '/load-failure.js', '/favicon.svg', '/app.webmanifest', ...BUILD.first]
/** URLs that are not part of the page. */
const SERVER = /^\/(api|v1|mcp|hooks|s|a|docs|healthz|readyz|metrics|\.well-known)(\/|$)|\.\w+$/

/**
 * The cached response for a request. Ignores `Vary: Origin`: the installation requests files without an origin, script
 * imports with one, but the files are the same.
 */
const findCached = (request) => caches.match(request, { ignoreVary: true })

/** The path of a URL of this server, as the build has it. */
const pathOf = ({ url }) => new URL(url).pathname.slice(BASE.length)

const isInBuild = (path) => SHELL.includes(path) || BUILD.files.includes(path)

/** Caches all files or none, so that the cached page always finds its files. */
async function cacheShell() {
  const cache = await caches.open(CACHE)
  await cache.addAll(SHELL.map((path) => new Request(BASE + path, { cache: 'no-cache' })))
}

/**
 * Removes files that neither this build nor the previous one needs. Open pages still run the previous build and load more
 * of its files, which the server no longer has.
 */
async function removeOlderBuilds() {
  const cache = await caches.open(CACHE)
  const list = await cache.match(LIST)
  const { current = [], before = [] } = list === undefined ? {} : await list.json()
  const isSame = current.join() === BUILD.files.join()
  const previous = new Set(isSame ? before : current)
  for (const request of await cache.keys()) {
    const path = pathOf(request)
    if (!isInBuild(path) && !previous.has(path)) await cache.delete(request)
  }
  await cache.put(LIST, Response.json({ current: BUILD.files, before: [...previous] }))
}

/** The page from the server, so that a new build applies at once; the cached one without a connection. */
async function openPage(request) {
  try {
    return await fetch(request)
  } catch (error) {
    const cached = await findCached(`${BASE}/`)
    if (cached === undefined) throw error
    return cached
  }
}

/** A file whose name changes with its content, so that a cached one is never outdated. */
async function openAsset(request) {
  const cached = await findCached(request)
  if (cached !== undefined) return cached
  const response = await fetch(request)
  if (response.ok && isInBuild(pathOf(request))) {
    const cache = await caches.open(CACHE)
    await cache.put(request, response.clone())
  }
  return response
}

/** Like `openPage`, for other files of the shell: their names do not change with their content. */
async function openFresh(request) {
  try {
    return await fetch(request)
  } catch (error) {
    const cached = await findCached(request)
    if (cached === undefined) throw error
    return cached
  }
}

/** Caches files of this build that the page loaded before the worker started. */
async function cacheLoaded(paths) {
  const cache = await caches.open(CACHE)
  for (const path of paths)
    if (isInBuild(path.slice(BASE.length)) && (await findCached(path)) === undefined)
      await cache.add(path)
}

// A new build takes over at once: the document always comes from the server, so a page never mixes two builds.
self.addEventListener('install', (event) =>
  event.waitUntil(cacheShell().then(() => self.skipWaiting())),
)
self.addEventListener('activate', (event) =>
  event.waitUntil(removeOlderBuilds().then(() => self.clients.claim())),
)
self.addEventListener('message', (event) => {
  const paths = event.data?.loaded
  if (Array.isArray(paths))
    event.waitUntil(cacheLoaded(paths.filter((path) => typeof path === 'string')))
})
self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== self.location.origin) return
  if (!`${pathname}/`.startsWith(`${BASE}/`)) return // another program's on the same host
  const path = pathOf(request)
  if (request.mode === 'navigate') {
    if (request.destination === 'document' && !SERVER.test(path))
      event.respondWith(openPage(request))
  } else if (path.startsWith('/assets/')) event.respondWith(openAsset(request))
  else if (SHELL.includes(path)) event.respondWith(openFresh(request))
})

/** The cache key under which the page stores texts in the user's language (src/lib/browser/push.ts). */
const TEXTS = `${BASE}/assets/.push-texts`
const ENGLISH = {
  answer_ready: 'Your answer is ready.',
  answer_failed: 'An answer ended with an error.',
  waiting: 'The agent is waiting for you.',
  schedule_not_run: 'A scheduled task did not run.',
  approve: 'Approve',
  reject: 'Reject',
  tools: {},
  language: 'en',
  receipt: {},
}

async function pushTexts() {
  const cached = await caches.match(TEXTS)
  return cached === undefined ? ENGLISH : { ...ENGLISH, ...(await cached.json()) }
}

/** Sends a request as the user; after a 401, with a token from the session's cookie. */
async function authorized(path, init = {}) {
  const attempt = (headers) =>
    fetch(BASE + path, { ...init, headers: { ...init.headers, ...headers } })
  const response = await attempt({})
  if (response.status !== 401) return response
  const renewed = await fetch(`${BASE}/api/auth/refresh`, { method: 'POST' })
  if (!renewed.ok) return renewed
  return attempt({ authorization: `Bearer ${(await renewed.json()).data.token}` })
}

const post = (path, body) =>
  authorized(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** The only tool call that a run waits for; null if there are several, or if the request fails. */
async function waitingCall(run) {
  try {
    const response = await authorized(`/api/runs/${run}`)
    if (!response.ok) return null
    const { pending_approvals: calls, pending_inputs: inputs } = (await response.json()).data
    return calls.length === 1 && inputs.length === 0 ? calls[0] : null
  } catch {
    return null
  }
}

/** A tool call of somebody else for whom the user decides; null once it is decided, or if the request fails. */
async function callOfOther(id) {
  try {
    const response = await authorized(`/api/approvals/${id}`)
    if (!response.ok) return null
    const { data } = await response.json()
    return data.state === 'pending' ? data : null
  } catch {
    return null
  }
}

/** What an answer did: only what there is any of. */
function factsOf(receipt, { receipt: texts, language }) {
  const forms = new Intl.PluralRules(language)
  return ['files', 'commands', 'sent', 'unresolved']
    .filter((key) => receipt?.[key] > 0)
    .map((key) => {
      const count = receipt[key]
      const text = texts[`${key}_${forms.select(count)}`] ?? texts[`${key}_other`] ?? ''
      return text.replace('{{count}}', count.toLocaleString(language))
    })
    .filter((text) => text !== '')
}

/** Shows a notification for every message, because browsers end subscriptions whose messages show none. */
async function showPush(notice) {
  const { type, run_id: run, conversation_id, approval_id, approver, receipt } = notice
  const texts = await pushTexts()
  const call =
    type !== 'waiting' ? null : approver ? await callOfOther(approval_id) : await waitingCall(run)
  const facts = factsOf(receipt, texts)
  // The notification only names the tool, so a high-risk call cannot be approved here without being read.
  const choices =
    call === null ? [] : call.risk_level === 'high' ? ['reject'] : ['approve', 'reject']
  const tag = run === undefined ? `schedule ${notice.schedule_id}` : `run ${run}`
  const windows = await self.clients.matchAll({ type: 'window' })
  const isWatched = windows.some(({ focused }) => focused)
  await self.registration.showNotification('NanoClaw', {
    body: [
      texts[type],
      ...(call === null ? [] : [texts.tools[call.name] ?? call.name]),
      ...(facts.length === 0 ? [] : [facts.join(' · ')]),
    ].join(' '),
    tag,
    icon: `${BASE}/icon-192.png`,
    silent: isWatched,
    data: {
      run,
      path: run === undefined ? '/schedules' : approver ? '/waiting' : `/c/${conversation_id}`,
      call: call?.id_ref ?? null,
      hash: call?.call_hash,
    },
    actions: choices.map((action) => ({ action, title: texts[action] })),
  })
  if (!isWatched) return
  for (const shown of await self.registration.getNotifications({ tag })) shown.close()
}

async function openPath(path) {
  const [window] = await self.clients.matchAll({ type: 'window' })
  if (window === undefined) return self.clients.openWindow(BASE + path)
  window.postMessage({ open: path })
  return window.focus()
}

/** Handles a click on a notification. Its buttons decide exactly its tool call; if that fails, its page opens. */
async function handleClick({ run, path, call, hash }, action) {
  if (action !== 'approve' && action !== 'reject') return openPath(path)
  const decided = await post(`/api/runs/${run}/approvals`, {
    id_ref: call,
    decision: action,
    call_hash: hash,
  }).catch(() => ({ ok: false }))
  return decided.ok ? undefined : openPath(path)
}

self.addEventListener('push', (event) => event.waitUntil(showPush(event.data.json())))
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(handleClick(event.notification.data, event.action))
})
/** Firefox replaces subscriptions while no page is open. */
self.addEventListener('pushsubscriptionchange', (event) =>
  event.waitUntil(
    self.registration.pushManager
      .subscribe(event.oldSubscription.options)
      .then((renewed) => post('/api/push/subscriptions', renewed.toJSON())),
  ),
)
