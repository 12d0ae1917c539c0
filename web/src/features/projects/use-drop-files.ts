// Uploads files and folders that were dropped on a project's tree or chosen for it. Asks if they may replace others.
import { useEffect, useRef, useState } from 'react'
import { useMakeSearchable } from '../../lib/api/documents.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { useAddFiles, useMayReplace } from './api/files.ts'
import type { PathedFile } from './api/upload.ts'
import { useDropTarget } from './use-drop-target.ts'

/** Returns the handlers of the drop target, the number of files that wait for confirmation, and the progress. */
export function useDropFiles(projectId: string) {
  const { t } = useTranslation()
  const add = useAddFiles(projectId)
  const mayReplace = useMayReplace(projectId)
  const makeSearchable = useMakeSearchable(projectId)
  const [waiting, setWaiting] = useState<PathedFile[] | null>(null)
  const [progress, setProgress] = useState<number | null>(null)
  const sending = useRef<AbortController | null>(null)
  // Leaving the page cancels the upload; the server then stores nothing.
  useEffect(() => () => sending.current?.abort(), [])

  const store = async (files: readonly PathedFile[]): Promise<void> => {
    if (sending.current !== null) return notify(t('files.busy'), 'error')
    const controller = new AbortController()
    sending.current = controller
    setProgress(0)
    try {
      await add(files, setProgress, controller.signal)
      notify(t('files.added', { count: files.length }), 'success', {
        label: t('files.makeSearchable'),
        onClick: () => void makeAllSearchable(files),
      })
    } catch (error) {
      if (!controller.signal.aborted) notify(errorText(error), 'error')
    } finally {
      sending.current = null
      setProgress(null)
    }
  }
  const makeAllSearchable = async (files: readonly PathedFile[]): Promise<void> => {
    for (const { path } of files)
      try {
        await makeSearchable.mutateAsync(path)
      } catch (error) {
        // The mutation has reported it. One file may be gone or too large; for other reasons, the rest would be refused, too.
        if (!(error instanceof ApiError && (error.status === 404 || error.status === 413))) return
      }
  }
  /** A drop may be an accident. */
  const ask = (files: PathedFile[]): void => {
    if (files.length > 0) setWaiting(files)
  }
  const storeOrAsk = async (files: PathedFile[]): Promise<void> => {
    if (files.length === 0) return
    // If the folder cannot be read, the files may replace others; the upload itself reports errors.
    if (await mayReplace(files).catch(() => true)) ask(files)
    else await store(files)
  }
  const { isOver, handlers } = useDropTarget(ask)
  return {
    over: isOver,
    /** The share that has been sent, from 0 to 1; null while no upload is pending. */
    progress,
    /** Cancels the upload; the server then stores nothing. */
    abort: () => sending.current?.abort(),
    /** The number of files that wait for confirmation; null for none. */
    question: waiting?.length ?? null,
    /** Stores files that were chosen for the root of the project, after a confirmation if they may replace others. */
    choose: (files: PathedFile[]) => void storeOrAsk(files),
    cancel: () => setWaiting(null),
    confirm: () => {
      if (waiting !== null) void store(waiting)
      setWaiting(null)
    },
    handlers,
  }
}
