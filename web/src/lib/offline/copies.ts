// Copies of responses in the browser's database, the latest hundred of the person who is signed in.

const DATABASE = 'nanoclaw-copies'
const STORE = 'copies'
const MAX_COPIES = 100

type Copy = { key: string; owner: string; path: string; at: string; data: unknown }

const done = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

let opened: Promise<IDBDatabase> | null = null

function open(): Promise<IDBDatabase> {
  if (opened !== null) return opened
  const request = indexedDB.open(DATABASE, 1)
  request.onupgradeneeded = () => {
    request.result.createObjectStore(STORE, { keyPath: 'key' }).createIndex('at', 'at')
  }
  opened = done(request)
  opened.then(
    (database) => {
      // Another tab removes everything.
      database.onversionchange = () => {
        database.close()
        opened = null
      }
    },
    () => {
      opened = null
    },
  )
  return opened
}

const keyOf = (owner: string, path: string): string => `${owner} ${path}`

/** A conversation that is in no list must leave nothing behind either. */
const isTemporary = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'temporary' in data && data.temporary === true

/** Temporary conversations of this visit. */
const temporary = new Set<string>()
const conversationOf = (path: string): string | undefined =>
  path.match(/^\/api\/conversations\/([\w-]+)/)?.[1]

/** Keeps `data`, in place of an older copy of `path`; the oldest copies make room, and those of other people go. */
export async function keep(owner: string, path: string, data: unknown): Promise<void> {
  const conversation = conversationOf(path)
  if (conversation !== undefined && isTemporary(data)) temporary.add(conversation)
  const database = await open()
  const store = database.transaction(STORE, 'readwrite').objectStore(STORE)
  const isLeftOut = conversation !== undefined && temporary.has(conversation)
  if (!isLeftOut) {
    const copy: Copy = { key: keyOf(owner, path), owner, path, at: new Date().toISOString(), data }
    await done(store.put(copy))
  }
  let room = MAX_COPIES - (await done(store.count()))
  const cursors = store.index('at').openCursor()
  await new Promise<void>((resolve, reject) => {
    cursors.onerror = () => reject(cursors.error)
    cursors.onsuccess = () => {
      const cursor = cursors.result
      if (cursor === null) return resolve()
      // Only this module writes to the store.
      const { owner: whose, path: what } = cursor.value as Copy
      const of = conversationOf(what)
      if (whose !== owner || room < 0 || (of !== undefined && temporary.has(of))) {
        cursor.delete()
        room += 1
      }
      cursor.continue()
    }
  })
}

/** @returns null when there is none */
export async function read(
  owner: string,
  path: string,
): Promise<{ at: string; data: unknown } | null> {
  const database = await open()
  const store = database.transaction(STORE).objectStore(STORE)
  // Only this module writes to the store.
  const copy = (await done(store.get(keyOf(owner, path)))) as Copy | undefined
  return copy ?? null
}

/** Removes every copy of everybody. */
export async function removeAll(): Promise<void> {
  const database = await open()
  await done(database.transaction(STORE, 'readwrite').objectStore(STORE).clear())
}
