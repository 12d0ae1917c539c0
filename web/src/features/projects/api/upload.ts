// Uploads files to a project, and reads dropped folders.
import { uploadForm } from '../../../lib/http/upload-form.ts'

/** A file to upload, and its path relative to the project's root. */
export type PathedFile = { file: File; path: string }

/** Sends files with other fields of a form. As `uploadForm`. */
export function upload<T>(
  address: string,
  fields: Readonly<Record<string, string>>,
  files: readonly PathedFile[],
  onProgress: (part: number) => void,
  signal?: AbortSignal,
): Promise<T> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  for (const { file, path } of files) form.append('files', file, path)
  return uploadForm<T>(address, form, onProgress, signal)
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
