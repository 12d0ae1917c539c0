// The route that copies a file of a project, so that a message can attach it.

import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { FileInfo } from '../../protocol/conversations/file.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import { AttachFileBody } from '../../protocol/projects/project.ts'
import type { Services } from '../../services.ts'
import { openProject } from '../../workspace/open-project.ts'
import { success } from '../envelope.ts'
import { presentFile } from '../files/files.ts'

/** `POST /api/projects/:id/attachments`. */
export function registerAttachFileRoute(
  app: App,
  {
    store: { projects },
    workspace: services,
    files,
    uploadSlots,
    bounds,
  }: Pick<Services, 'store' | 'workspace' | 'files' | 'uploadSlots' | 'bounds'>,
): void {
  app.post(
    '/api/projects/:id/attachments',
    {
      schema: {
        summary: 'Copy a file of a project into a file for a message',
        description:
          'Use the copy like an uploaded file: list it in `attachments` of a message. Later changes in the project do not change it.',
        tags: ['project files'],
        params: z.object({ id: ProjectId }),
        body: AttachFileBody,
        response: { 200: envelope(FileInfo) },
      },
    },
    async ({ user, params, body: { path } }) => {
      const { workspace } = await openProject(
        { projects, workspaces: services.workspaces },
        user.id,
        params.id,
        'read',
      )
      return await uploadSlots.run(user.id, async () => {
        const { bytes } = await workspace.read(path, bounds.attachment)
        const file = await files.upload(user.id, {
          name: basename(path),
          content: Readable.from([bytes]),
          isCut: () => false,
        })
        return success(presentFile(file))
      })
    },
  )
}
