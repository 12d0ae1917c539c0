// Keeps the page's own files, so that it opens without a connection, and shows push notifications. Answers of the server are
// never kept here. The build
// puts `BUILD` in front: every file of this build, and those of the first screen.

const CACHE = 'nanoclaw-files'
/** Where the list of this build's files is kept for the worker of the next build. No such file exists. */
const LIST = '/assets/.kept-build'
/** What the page needs to appear. `/` stands for every address of the page. */
const SHELL = ['/', '/load-failure.js', '/favicon.svg', '/app.webmanifest', ...BUILD.first]
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

/** What the page has left of its texts in the reader's language. */
const TEXTS = '/assets/.push-texts'
const ENGLISH = {
  answer_ready: 'Your answer is ready.',
  answer_failed: 'An answer ended with an error.',
  waiting: 'The agent is waiting for you.',
  approve: 'Approve',
  reject: 'Reject',
  tools: {},
}

async function pushTexts() {
  const kept = await caches.match(TEXTS)
  return kept === undefined ? ENGLISH : { ...ENGLISH, ...(await kept.json()) }
}

/** A request in the name of the user, with a token of the page's session where one is needed. */
async function authorized(path, init = {}) {
  const ask = (headers) => fetch(path, { ...init, headers: { ...init.headers, ...headers } })
  const response = await ask({})
  if (response.status !== 401) return response
  const renewed = await fetch('/api/auth/refresh', { method: 'POST' })
  if (!renewed.ok) return renewed
  return ask({ authorization: `Bearer ${(await renewed.json()).data.token}` })
}

const post = (path, body) =>
  authorized(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** The one call that a run waits for; null where there are several, or where it cannot be found out. */
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

/** Always shows something: browsers end subscriptions whose messages show nothing. */
async function showPush({ type, run_id: run, conversation_id: conversation }) {
  const texts = await pushTexts()
  const call = type === 'waiting' ? await waitingCall(run) : null
  // What is risky should be read before it is approved; the notification only names the tool.
  const choices =
    call === null ? [] : call.risk_level === 'high' ? ['reject'] : ['approve', 'reject']
  const tag = `run ${run}`
  const windows = await self.clients.matchAll({ type: 'window' })
  const isWatched = windows.some(({ focused }) => focused)
  await self.registration.showNotification('NanoClaw', {
    body: call === null ? texts[type] : `${texts[type]} ${texts.tools[call.name] ?? call.name}`,
    tag,
    icon: '/icon-192.png',
    silent: isWatched,
    data: { run, conversation, call: call?.id_ref ?? null },
    actions: choices.map((action) => ({ action, title: texts[action] })),
  })
  if (!isWatched) return
  for (const shown of await self.registration.getNotifications({ tag })) shown.close()
}

async function openConversation(conversation) {
  const path = `/c/${conversation}`
  const [window] = await self.clients.matchAll({ type: 'window' })
  if (window === undefined) return self.clients.openWindow(path)
  window.postMessage({ open: path })
  return window.focus()
}

/** A button of the notification decides exactly the call that it was shown for; what fails is decided on the page. */
async function answerPush({ run, conversation, call }, action) {
  if (action !== 'approve' && action !== 'reject') return openConversation(conversation)
  const decided = await post(`/api/runs/${run}/approvals`, {
    id_ref: call,
    decision: action,
  }).catch(() => ({ ok: false }))
  return decided.ok ? undefined : openConversation(conversation)
}

self.addEventListener('push', (event) => event.waitUntil(showPush(event.data.json())))
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(answerPush(event.notification.data, event.action))
})
/** Firefox replaces subscriptions while no page is open. */
self.addEventListener('pushsubscriptionchange', (event) =>
  event.waitUntil(
    self.registration.pushManager
      .subscribe(event.oldSubscription.options)
      .then((renewed) => post('/api/push/subscriptions', renewed.toJSON())),
  ),
)
