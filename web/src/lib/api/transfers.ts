// Export and import jobs: starts them, polls their progress, saves the archive.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { ExportJob, ImportJob } from '../../../../server/protocol/conversations/transfer.ts'
import { saveFile } from '../browser/save-file.ts'
import { request, send } from '../http/api-client.ts'
import { conversationKeys } from './conversations.ts'

const POLL_MS = 1_000
const exportsKey = ['exports'] as const
const importsKey = ['imports'] as const

/** Whether a job exists and has not ended. */
export const isActive = (job: ExportJob | ImportJob | undefined): boolean =>
  job !== undefined && job.ended_at === null

const newest = <Job>(path: string, signal: AbortSignal): Promise<Job | null> =>
  request<{ items: Job[] }>(path, { signal }).then(({ items }) => items[0] ?? null)

/** The newest export job, polled until it ends; null when there is none. */
export const useExportJob = () =>
  useQuery({
    queryKey: exportsKey,
    queryFn: ({ signal }) => newest<ExportJob>('/api/exports', signal),
    refetchInterval: ({ state }) => (isActive(state.data ?? undefined) ? POLL_MS : false),
    meta: { quiet: true },
  })

/** The newest import job, polled until it ends; null when there is none. Its end refreshes the lists that it adds to. */
export function useImportJob() {
  const client = useQueryClient()
  const query = useQuery({
    queryKey: importsKey,
    queryFn: ({ signal }) => newest<ImportJob>('/api/imports', signal),
    refetchInterval: ({ state }) => (isActive(state.data ?? undefined) ? POLL_MS : false),
    meta: { quiet: true },
  })
  const active = isActive(query.data ?? undefined)
  const wasActive = useRef(false)
  useEffect(() => {
    if (wasActive.current && !active) {
      void client.invalidateQueries({ queryKey: conversationKeys.lists })
      void client.invalidateQueries({ queryKey: ['projects'] })
      void client.invalidateQueries({ queryKey: ['tags'] })
    }
    wasActive.current = active
  }, [active, client])
  return query
}

/** Starts an export of the given conversations, or of everything for null. */
export function useStartExport() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (conversationIds: readonly string[] | null) =>
      request<ExportJob>('/api/exports', {
        method: 'POST',
        body: conversationIds === null ? {} : { conversation_ids: conversationIds },
      }),
    onSuccess: (job) => client.setQueryData(exportsKey, job),
  })
}

/** Saves the archive of a finished export as `nanoclaw-<day>.zip`. */
export const useSaveExport = () =>
  useMutation({
    mutationFn: async ({ id, created_at: createdAt }: ExportJob) => {
      const response = await send(`/api/exports/${id}/file`)
      saveFile(await response.blob(), `nanoclaw-${createdAt.slice(0, 10)}.zip`)
    },
  })

/** Uploads a file and starts its import job, which `useImportJob` follows. */
export function useStartImport() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (file: File) => {
      const body = new FormData()
      body.set('file', file)
      return request<ImportJob>('/api/imports', { method: 'POST', body })
    },
    onSuccess: (job) => client.setQueryData(importsKey, job),
  })
}
