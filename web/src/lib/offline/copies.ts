// Copies of responses in IndexedDB: the newest hundred of the signed-in user.
import { BASE_PATH } from '../base-path.ts'

const DATABASE = `nanoclaw-copies${BASE_PATH}`
const STORE = 'copies'
const MAX_COPIES = 100

type Copy = { key: string; owner: string; path: string; at: string; data: unknown }

const resultOf = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

let connection: Promise<IDBDatabase> | null = null

function open(): Promise<IDBDatabase> {
  if (connection !== null) return connection
  const request = indexedDB.open(DATABASE, 1)
  request.onupgradeneeded = () => {
    request.result.createObjectStore(STORE, { keyPath: 'key' }).createIndex('at', 'at')
  }
  connection = resultOf(request)
  connection.then(
    (database) => {
      // Another tab deletes or upgrades the database.
      database.onversionchange = () => {
        database.close()
        connection = null
      }
    },
    () => {
      connection = null
    },
  )
  return connection
}

const keyOf = (owner: string, path: string): string => `${owner} ${path}`

/** Temporary conversations appear in no list, so no copy of them may remain. */
const isTemporary = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'temporary' in data && data.temporary === true

/** Ids of the temporary conversations that this page has loaded. */
const temporary = new Set<string>()
const conversationOf = (path: string): string | undefined =>
  path.match(/^\/api\/conversations\/([\w-]+)/)?.[1]

/** Stores `data` as the copy of `path`. Removes the oldest copies beyond the limit, and those of other users. */
export async function write(owner: string, path: string, data: unknown): Promise<void> {
  const conversation = conversationOf(path)
  if (conversation !== undefined && isTemporary(data)) temporary.add(conversation)
  const database = await open()
  const store = database.transaction(STORE, 'readwrite').objectStore(STORE)
  const isExcluded = conversation !== undefined && temporary.has(conversation)
  if (!isExcluded) {
    const copy: Copy = { key: keyOf(owner, path), owner, path, at: new Date().toISOString(), data }
    await resultOf(store.put(copy))
  }
  // Oldest first. Only the keys are read: the copies themselves may be large.
  const keys = await resultOf(store.index('at').getAllKeys())
  let excess = keys.length - MAX_COPIES
  for (const key of keys.map(String)) {
    const id = conversationOf(key.slice(key.indexOf(' ') + 1))
    const isOthers = !key.startsWith(keyOf(owner, ''))
    if (!isOthers && excess <= 0 && (id === undefined || !temporary.has(id))) continue
    store.delete(key)
    excess -= 1
  }
}

/** The owner's copy of `path` and when it was loaded; null when there is none. */
export async function read(
  owner: string,
  path: string,
): Promise<{ at: string; data: unknown } | null> {
  const database = await open()
  const store = database.transaction(STORE).objectStore(STORE)
  // Only this module writes to the store.
  const copy = (await resultOf(store.get(keyOf(owner, path)))) as Copy | undefined
  return copy ?? null
}

/** Removes the copies of all users. */
export async function removeAll(): Promise<void> {
  const database = await open()
  await resultOf(database.transaction(STORE, 'readwrite').objectStore(STORE).clear())
}
