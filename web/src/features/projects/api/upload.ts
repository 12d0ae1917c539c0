// Uploads files with progress, which fetch cannot report, and reads dropped folders.
import type { ErrorBody } from '../../../../../server/protocol/error.ts'
import { ApiError, authorization, refusalOf } from '../../../lib/http/api-client.ts'

/** A file to upload, and its path relative to the project's root. */
export type PathedFile = { file: File; path: string }

/**
 * Sends multipart form data. `onProgress` receives the share that has been sent, from 0 to 1. Throws `ApiError`; an abort
 * throws the signal's reason.
 */
export async function upload<T>(
  address: string,
  fields: Readonly<Record<string, string>>,
  files: readonly PathedFile[],
  onProgress: (part: number) => void,
  signal?: AbortSignal,
): Promise<T> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  for (const { file, path } of files) form.append('files', file, path)
  const headers = await authorization()
  // Cancelled while the token was renewed, or between two uploads: no event reports that again.
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', address)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.responseType = 'json'
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total)
    })
    request.addEventListener('load', () => {
      const body: ({ data?: T } & Partial<ErrorBody>) | null = request.response
      if (request.status < 300 && body?.data !== undefined) resolve(body.data)
      else reject(refusalOf(request.status, body))
    })
    request.addEventListener('error', () => reject(new ApiError(0, 'offline')))
    signal?.addEventListener('abort', () => {
      request.abort()
      reject(signal.reason)
    })
    request.send(form)
  })
}

/** The files of a file or folder input. */
export const filesOfInput = (list: FileList | null): PathedFile[] =>
  [...(list ?? [])].map((file) => ({
    file,
    path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath,
  }))

const readEntries = (directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> => {
  const reader = directory.createReader()
  const all: FileSystemEntry[] = []
  return new Promise((resolve, reject) => {
    // The reader returns the entries in batches; an empty batch ends the list.
    const next = (): void =>
      reader.readEntries((portion) => {
        if (portion.length === 0) resolve(all)
        else {
          all.push(...portion)
          next()
        }
      }, reject)
    next()
  })
}

/** Above a server's default limit; the server reports if there are too many. */
const MAX_FILES = 50_000

const walk = async (entry: FileSystemEntry, into: PathedFile[]): Promise<void> => {
  if (into.length >= MAX_FILES) return
  if (entry.isDirectory) {
    for (const child of await readEntries(entry as FileSystemDirectoryEntry))
      await walk(child, into) // `isDirectory` guarantees the type
    return
  }
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  ) // every other entry is a file
  into.push({ file, path: entry.fullPath.replace(/^\//, '') })
}

/** All dropped files, including those in folders, at most `MAX_FILES`. */
export async function filesOfDrop(transfer: DataTransfer): Promise<PathedFile[]> {
  // The browser empties the list when the event handler ends, so read the entries at once.
  const entries: FileSystemEntry[] = []
  const files: PathedFile[] = []
  for (const item of transfer.items) {
    const entry = item.webkitGetAsEntry()
    if (entry !== null) entries.push(entry)
    else {
      // A file that is not on a disk, such as a picture dragged out of another page.
      const file = item.getAsFile()
      if (file !== null) files.push({ file, path: file.name })
    }
  }
  for (const entry of entries) await walk(entry, files)
  return files
}
