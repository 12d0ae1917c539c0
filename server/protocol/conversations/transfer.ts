// Exports of everything and imports on the wire: jobs that run in the background.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { ConversationId, TransferId } from '../ids.ts'

/** The status of an export or import, which runs in the background. */
export const TransferStatus = z.enum(['queued', 'running', 'completed', 'failed'])
export type TransferStatus = z.infer<typeof TransferStatus>

/** The program whose export is imported. `python`: the SQLite file of the Python NanoClaw. */
export const ImportFormat = z.enum([
  'nanoclaw',
  'chatgpt',
  'claude',
  'open-webui',
  'librechat',
  'python',
])
export type ImportFormat = z.infer<typeof ImportFormat>

/** The progress of a job, `done` of `total`: conversations of an export, bytes of an import. `total` is 0 while unknown. */
const Progress = z.object({ done: z.int().min(0), total: z.int().min(0) })

const failure = {
  /** Why it failed, for a person; null if it did not. */
  error: z.string().nullable(),
  reason: z.string().nullable(),
  params: ErrorParams.optional(),
}

export const CreateExportBody = z
  .object({
    /** Exports only these conversations and their files; by default, everything that the user owns. */
    conversation_ids: z.array(ConversationId).min(1).max(1_000).nullish(),
  })
  .nullish()
  .meta({ id: 'CreateExport' })

/** An export of everything that a user has, into one file. */
export const ExportJob = z
  .object({
    id: TransferId,
    status: TransferStatus,
    progress: Progress,
    /** Bytes of the file; null until it is complete. */
    size: z.int().nullable(),
    ...failure,
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    /** When the file is deleted; null until it is complete. */
    expires_at: Timestamp.nullable(),
  })
  .meta({ id: 'ExportJob' })
export type ExportJob = z.infer<typeof ExportJob>

/** Something that an import left out, with the reason. */
export const SkippedItem = z.object({
  /** The title or name of what was left out. */
  what: z.string(),
  /** The reason, in English. */
  why: z.string(),
  reason: z.string(),
  params: ErrorParams.optional(),
})
export type SkippedItem = z.infer<typeof SkippedItem>

/** What an import added, by kind, and what it left out. */
export const ImportReport = z.object({
  conversations: z.int(),
  messages: z.int(),
  files: z.int(),
  projects: z.int(),
  documents: z.int(),
  /** Absent in reports of imports before they were counted. */
  skills: z.int().optional(),
  /** The first thousand omitted items; `skipped_total` counts all. */
  skipped: z.array(SkippedItem),
  skipped_total: z.int(),
})
export type ImportReport = z.infer<typeof ImportReport>

/** An import of an exported file, of this server or of another program. */
export const ImportJob = z
  .object({
    id: TransferId,
    status: TransferStatus,
    /** The name of the imported file. */
    name: z.string(),
    format: ImportFormat.nullable(),
    progress: Progress,
    report: ImportReport.nullable(),
    ...failure,
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'ImportJob' })
export type ImportJob = z.infer<typeof ImportJob>

export const ExportJobs = z.object({ items: z.array(ExportJob) })
export const ImportJobs = z.object({ items: z.array(ImportJob) })
