// The uploaded files of unsent messages, stored while the tab is open like the drafts of their texts.
import type { FileInfo } from '../../../../../server/protocol/conversations/file.ts'
import type { FileId } from '../../../../../server/protocol/ids.ts'
import { privateKey } from '../../../lib/browser/private-storage.ts'
import { fieldsOf, listIn, numberIn, parseJson, textIn } from '../../../lib/read-json.ts'

const storageKey = (key: string): string => privateKey(`draft-files.${key}`)

/** The server removes files that no message uses after a day. */
const MAX_AGE_MS = 23 * 60 * 60 * 1000

/** The files of the draft with this key that the server still has. */
export function readDraftFiles(key: string): FileInfo[] {
  try {
    const stored = listIn(parseJson(sessionStorage.getItem(storageKey(key)) ?? '[]'))
    const oldest = Date.now() - MAX_AGE_MS
    return stored
      .map(fileIn)
      .filter(({ id, created_at }) => id !== '' && Date.parse(created_at) > oldest)
  } catch {
    return [] // storage blocked
  }
}

/** Replaces the files of the draft. Never throws. */
export function writeDraftFiles(key: string, files: readonly FileInfo[]): void {
  try {
    if (files.length === 0) sessionStorage.removeItem(storageKey(key))
    else sessionStorage.setItem(storageKey(key), JSON.stringify(files))
  } catch {
    // Storage is blocked or full: the files are only in the composer.
  }
}

type OpenComposer = {
  /** Its files belong to another draft from now on. */
  move(to: string): void
  /** Adds a file that was chosen before the draft moved here. */
  receive(file: FileInfo): void
}
/** By the key of their draft. */
const openComposers = new Map<string, OpenComposer>()

/** The composer of this draft is open. Returns the function that ends that. */
export function openDraftFiles(key: string, composer: OpenComposer): () => void {
  openComposers.set(key, composer)
  return () => {
    if (openComposers.get(key) === composer) openComposers.delete(key)
  }
}

/** Makes the files of a draft those of another one, also the ones that are still being uploaded. */
export function moveDraftFiles(from: string, to: string): void {
  writeDraftFiles(to, readDraftFiles(from))
  writeDraftFiles(from, [])
  openComposers.get(from)?.move(to)
}

/** Adds a file to a draft that has moved while the file was uploaded. */
export function addDraftFile(key: string, file: FileInfo): void {
  const composer = openComposers.get(key)
  if (composer === undefined) writeDraftFiles(key, [...readDraftFiles(key), file])
  else composer.receive(file)
}

function fileIn(value: unknown): FileInfo {
  const fields = fieldsOf(value)
  const numbers = Object.entries({
    width: numberIn(fields.width),
    height: numberIn(fields.height),
    pages: numberIn(fields.pages),
    characters: numberIn(fields.characters),
  }).filter(([, number]) => number !== undefined)
  const encoding = textIn(fields.encoding)
  return {
    id: (textIn(fields.id) ?? '') as FileId, // an id is a plain string when stored
    name: textIn(fields.name) ?? '',
    mime: textIn(fields.mime) ?? '',
    size: numberIn(fields.size) ?? 0,
    sha256: textIn(fields.sha256) ?? '',
    created_at: textIn(fields.created_at) ?? '',
    ...(encoding === undefined ? {} : { encoding }),
    ...Object.fromEntries(numbers),
  }
}
