// The route that returns the content of a document of a project for a preview.

import { basename } from 'node:path'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { extractPreview } from '../../knowledge/extract.ts'
import { createFairQueue } from '../../lib/fair-queue.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import { FilePreview } from '../../protocol/projects/preview.ts'
import type { Services } from '../../services.ts'
import { openProject } from '../../workspace/open-project.ts'
import { success } from '../envelope.ts'

const MAX_BYTES = 50_000_000
const TIMEOUT_MS = 30_000
/** Documents that child processes read at once, in all and of one user. */
const MAX_CONCURRENT = { size: 2, perOwner: 1 }

/** `GET /api/projects/:id/previews/…`. */
export function registerFilePreviewRoute(
  app: App,
  { store: { projects }, workspace: { workspaces } }: Pick<Services, 'store' | 'workspace'>,
): void {
  const readers = createFairQueue(MAX_CONCURRENT)
  app.get(
    '/api/projects/:id/previews/*',
    {
      config: { large: true },
      schema: {
        summary: 'Get the content of a Word, Excel, PowerPoint or PDF file for a preview',
        description:
          'Headings, paragraphs, lists and tables of a text document; rows of the sheets of a workbook; texts and notes of slides; texts of the pages of a PDF. Of a long document, only the beginning.',
        tags: ['project files'],
        params: z.object({ id: ProjectId, '*': z.string().max(8192) }),
        response: { 200: envelope(FilePreview) },
      },
    },
    async ({ user, params }, reply) => {
      const { workspace } = await openProject({ projects, workspaces }, user.id, params.id, 'read')
      const path = params['*']
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      // Who has left already is not told again.
      if (reply.raw.destroyed) left.abort()
      const found = await readers.run(user.id, async () => {
        const { bytes } = await workspace.read(path, MAX_BYTES)
        return await extractPreview(basename(path), bytes, {
          signal: left.signal,
          timeoutMs: TIMEOUT_MS,
        })
      })
      if (found.ok)
        return success({ preview: found.preview, error: null, reason: null, params: null })
      const { message, reason, params: values = null } = found.failure
      return success({ preview: null, error: message, reason, params: values })
    },
  )
}
