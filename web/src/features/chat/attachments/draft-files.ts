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

function fileIn(value: unknown): FileInfo {
  const fields = fieldsOf(value)
  const numbers = Object.entries({
    width: numberIn(fields.width),
    height: numberIn(fields.height),
    pages: numberIn(fields.pages),
    characters: numberIn(fields.characters),
  }).filter(([, number]) => number !== undefined)
  return {
    id: (textIn(fields.id) ?? '') as FileId, // an id is a plain string when stored
    name: textIn(fields.name) ?? '',
    mime: textIn(fields.mime) ?? '',
    size: numberIn(fields.size) ?? 0,
    sha256: textIn(fields.sha256) ?? '',
    created_at: textIn(fields.created_at) ?? '',
    ...Object.fromEntries(numbers),
  }
}
