// Uploads files that were chosen, dropped or pasted for a message.

import { useLayoutEffect, useRef, useState } from 'react'
import type { FileInfo } from '../../../../../server/protocol/conversations/file.ts'
import { uploadForm } from '../../../lib/http/upload-form.ts'
import { useNewest } from '../../../lib/newest.ts'
import { createTurns } from '../../../lib/turns.ts'
import { addDraftFile, openDraftFiles, readDraftFiles, writeDraftFiles } from './draft-files.ts'

/** An uploaded file of a message. */
export type AttachedFile = FileInfo

/** A chosen file, uploading or uploaded. */
export interface ChosenFile {
  key: number
  name: string
  /** Null while it is being uploaded. */
  uploaded: AttachedFile | null
  /** How much of it has been sent, in percent; undefined while that is unknown. */
  sentPercent?: number
  /** What the server has made it from: the same one again takes its place. */
  source?: string
}

interface Upload {
  /** Resolves with null if it failed or was cancelled. Never rejects. */
  done: Promise<AttachedFile | null>
  abort: AbortController
}

/** The server's default limit; the server checks again. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024
/** Most files of one message. */
export const MAX_FILES = 20

/** The server refuses a fifth upload of a user; one is left for another tab. */
const turns = createTurns(3)

/** The files of a message that is being written. The upload starts when a file is chosen; removing the file cancels it. */
export interface ChosenFiles {
  files: readonly ChosenFile[]
  /** Returns the keys of the files that are being uploaded. Files beyond the limit are left out, which `onTooMany` is told. */
  add(files: readonly File[]): readonly number[]
  /** Adds a file that the server creates from `source`, in place of an earlier one from it. The limit is that of `add`. */
  addStored(
    name: string,
    source: string,
    store: (signal: AbortSignal) => Promise<AttachedFile>,
  ): void
  remove(key: number): void
  /** Sets what the server has read from a file anew. */
  setUploaded(key: number, uploaded: AttachedFile): void
  /** Removes all files from the draft, because they are being sent. Their uploads continue. */
  take(): TakenFiles
}

/** The files of a message that is being sent. */
export interface TakenFiles {
  files: readonly ChosenFile[]
  /** Resolves once no upload is pending; with null if one has failed, which has been reported. */
  uploaded(): Promise<readonly AttachedFile[] | null>
  /** Returns those that are uploaded to the draft. */
  giveBack(): void
  /** Stores those that are uploaded as part of the draft, for a page that closes. */
  keep(): void
  /** Removes what `keep` has stored, because the message was accepted. */
  forget(): void
}

const uploadedOf = (files: readonly ChosenFile[]): AttachedFile[] =>
  files.flatMap(({ uploaded }) => (uploaded === null ? [] : [uploaded]))

/**
 * The files of a message that is being written, stored as part of the draft `draftKey`. `onFailure` receives the reason why
 * a file cannot be attached.
 */
export function useChosenFiles({
  draftKey,
  onUploaded,
  onFailure,
  onTooMany,
}: {
  draftKey: string
  onUploaded(file: AttachedFile): void
  onFailure(error: unknown): void
  onTooMany(): void
}): ChosenFiles {
  const [files, setFiles] = useState<readonly ChosenFile[]>(() =>
    readDraftFiles(draftKey).map((uploaded, place) => ({
      key: place + 1,
      name: uploaded.name,
      uploaded,
    })),
  )
  const newest = useRef(files)
  const lastKey = useRef(files.length)
  const uploads = useRef(new Map<number, Upload>())
  /** The draft to which the files have moved. */
  const movedTo = useRef<string | null>(null)

  const change = (next: readonly ChosenFile[]): void => {
    newest.current = next
    setFiles(next)
    if (movedTo.current === null) writeDraftFiles(draftKey, uploadedOf(next))
  }
  const newestChange = useNewest(change)
  useLayoutEffect(
    () =>
      openDraftFiles(draftKey, {
        move(to) {
          movedTo.current = to
          newest.current = newest.current.filter(({ uploaded }) => uploaded === null)
        },
        receive(uploaded) {
          lastKey.current += 1
          const added = { key: lastKey.current, name: uploaded.name, uploaded }
          newestChange.current([...newest.current, added])
        },
      }),
    [draftKey],
  )
  const drop = (key: number): void => change(newest.current.filter((one) => one.key !== key))

  type Store = (signal: AbortSignal, onProgress: (part: number) => void) => Promise<AttachedFile>

  const begin = (name: string, store: Store, source?: string): number => {
    lastKey.current += 1
    const key = lastKey.current
    const abort = new AbortController()
    const added = { key, name, uploaded: null, ...(source === undefined ? {} : { source }) }
    change([...newest.current, added])
    uploads.current.set(key, { abort, done: perform(key, store, abort.signal) })
    return key
  }

  /** Only for the eye: a file that is being uploaded is no part of the stored draft. */
  const showProgress = (key: number, part: number): void => {
    const sentPercent = Math.floor(part * 100)
    const file = newest.current.find((one) => one.key === key)
    if (file === undefined || file.sentPercent === sentPercent) return
    newest.current = newest.current.map((one) => (one === file ? { ...one, sentPercent } : one))
    setFiles(newest.current)
  }

  const perform = async (
    key: number,
    store: Store,
    signal: AbortSignal,
  ): Promise<AttachedFile | null> => {
    try {
      const uploaded = await turns.run(
        () => store(signal, (part) => showProgress(key, part)),
        signal,
      )
      if (signal.aborted) return null
      const { name } = uploaded
      if (movedTo.current !== null) addDraftFile(movedTo.current, uploaded)
      else change(newest.current.map((one) => (one.key === key ? { ...one, name, uploaded } : one)))
      onUploaded(uploaded)
      return uploaded
    } catch (error) {
      if (signal.aborted) return null
      drop(key)
      onFailure(error)
      return null
    } finally {
      uploads.current.delete(key)
    }
  }

  const remove = (key: number): void => {
    // The server removes uploads that no message uses.
    uploads.current.get(key)?.abort.abort()
    drop(key)
  }

  return {
    files,
    add(chosen) {
      const free = MAX_FILES - newest.current.length
      if (chosen.length > free) onTooMany()
      return chosen
        .slice(0, free)
        .map((file) => begin(file.name, (signal, onProgress) => upload(file, onProgress, signal)))
    },
    addStored(name, source, store) {
      const same = newest.current.find((one) => one.source === source)
      if (same !== undefined) remove(same.key)
      if (newest.current.length < MAX_FILES) begin(name, store, source)
      else onTooMany()
    },
    remove,
    setUploaded(key, uploaded) {
      change(newest.current.map((one) => (one.key === key ? { ...one, uploaded } : one)))
    },
    take() {
      // What is sent of a file that is no longer in the draft is not followed.
      const taken = newest.current.map(({ sentPercent: _sent, ...file }) => file)
      change([])
      const settled = [...taken]
      let isKept = false
      const done = taken.map(({ key, uploaded }) => uploaded ?? uploads.current.get(key)?.done)
      return {
        files: taken,
        async uploaded() {
          const settle = async (file: ChosenFile, place: number): Promise<void> => {
            settled[place] = { ...file, uploaded: (await done[place]) ?? null }
          }
          await Promise.all(taken.map(settle))
          const attached = uploadedOf(settled)
          return attached.length === taken.length ? attached : null
        },
        giveBack: () =>
          change([...settled.filter(({ uploaded }) => uploaded !== null), ...newest.current]),
        keep() {
          isKept = true
          const own = uploadedOf(settled)
          const since = readDraftFiles(draftKey).filter(({ id }) =>
            own.every((one) => one.id !== id),
          )
          writeDraftFiles(draftKey, [...own, ...since])
        },
        forget() {
          if (isKept) change(newest.current)
        },
      }
    },
  }
}

function upload(
  file: File,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<AttachedFile> {
  const form = new FormData()
  form.set('file', file)
  return uploadForm<AttachedFile>('/api/files', form, onProgress, signal)
}
