// The worker thread that reads a file with assistants of other programs.
import { appError, type SentError, sentError } from '../../errors.ts'
import { serveRequests } from '../../lib/worker-server.ts'
import { toRefusal } from '../import-refusal.ts'
import { type FoundAssistants, readAssistants } from './read-file.ts'

/** A file on this machine, an empty folder for images, and the maximum unpacked bytes of an archive. */
export interface AssistantsRequest {
  file: string
  folder: string
  maxBytes: number
}

/** What is in the file, or why it cannot be read. */
export type AssistantsReply = { ok: true; found: FoundAssistants } | { ok: false; error: SentError }

serveRequests<AssistantsRequest, AssistantsReply>(async ({ file, folder, maxBytes }) => {
  try {
    return { ok: true, found: await readAssistants(file, folder, maxBytes) }
  } catch (error) {
    // Anything else is damaged data inside an archive.
    const refusal = toRefusal(error) ?? appError('project_import_archive_damaged')
    return { ok: false, error: sentError(refusal) ?? { reason: 'project_import_archive_damaged' } }
  }
})
