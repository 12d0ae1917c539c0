// The worker thread that reads a file with assistants of other programs.
import { serveRequests } from '../../lib/worker-server.ts'
import { ImportFault } from '../import-items.ts'
import { AssistantFault, type FoundAssistants, readAssistants } from './read-file.ts'

/** A file on this machine, an empty folder for images, and the maximum unpacked bytes of an archive. */
export interface AssistantsRequest {
  file: string
  folder: string
  maxBytes: number
}

/** What is in the file, or why it cannot be read. */
export type AssistantsReply = { ok: true; found: FoundAssistants } | { ok: false; detail: string }

serveRequests<AssistantsRequest, AssistantsReply>(async ({ file, folder, maxBytes }) => {
  try {
    return { ok: true, found: await readAssistants(file, folder, maxBytes) }
  } catch (error) {
    if (error instanceof AssistantFault || error instanceof ImportFault)
      return { ok: false, detail: error.message }
    // Damaged data inside an archive.
    return { ok: false, detail: 'the file is damaged.' }
  }
})
