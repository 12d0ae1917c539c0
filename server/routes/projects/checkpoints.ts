// Routes for the checkpoints of a project: timeline, differences, restore.

import { z } from 'zod'
import type { CheckpointRow } from '../../db/repositories/projects/checkpoints.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ProjectId } from '../../protocol/ids.ts'
import {
  type Checkpoint,
  CheckpointDiff,
  CheckpointDiffQuery,
  CheckpointFilePage,
  CheckpointPage,
  ProjectListQuery,
  RestoreBody,
  Restored,
} from '../../protocol/projects/project.ts'
import type { Services } from '../../services.ts'
import { diffCheckpoint } from '../../workspace/checkpoints/diff/checkpoint-diff.ts'
import { openProject } from '../../workspace/open-project.ts'
import { RESTORE_ORIGIN, restoreBeforeMessage } from '../../workspace/restore-before-message.ts'
import { success } from '../envelope.ts'

const tags = ['checkpoints']
const DEFAULT_LIMIT = 50
const InProject = z.object({ id: ProjectId })
const OneCheckpoint = z.object({ id: ProjectId, cid: z.string().min(1).max(64) })
/** The cursor of a list of checkpoints: the last id of the previous page. */
const Cursor = z.uuid()
/** The cursor within the files of a checkpoint: the index of the next file. */
const FileCursor = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number)

/** `/api/projects/:id/checkpoints[/…]`. */
export function registerCheckpointRoutes(
  app: App,
  services: Pick<Services, 'store' | 'workspace'>,
): void {
  registerTimeline(app, services)
  registerRestore(app, services)
}

/** Routes that list checkpoints and show what changed. */
function registerTimeline(
  app: App,
  { store: { projects }, workspace: services }: Pick<Services, 'store' | 'workspace'>,
): void {
  const { checkpoints, makeDiff, pool, records, workspaces } = services
  const own = { projects, workspaces }

  app.get(
    '/api/projects/:id/checkpoints',
    {
      schema: {
        summary: 'List the changes to a project, newest first',
        tags,
        params: InProject,
        querystring: ProjectListQuery,
        response: { 200: envelope(CheckpointPage) },
      },
    },
    async ({ user, params, query }) => {
      await openProject(own, user.id, params.id, 'read')
      const limit = query.limit ?? DEFAULT_LIMIT
      const before = query.cursor === undefined ? undefined : readCursor(query.cursor, Cursor)
      const rows = await records.list(params.id, { limit, before })
      const items = rows.slice(0, limit)
      const hasMore = rows.length > limit
      return success({
        items: items.map(presentCheckpoint),
        next_cursor: hasMore ? (items.at(-1)?.id ?? null) : null,
        has_more: hasMore,
      })
    },
  )

  app.get(
    '/api/projects/:id/checkpoints/:cid/files',
    {
      schema: {
        summary: 'List the files that a change touched',
        tags,
        params: OneCheckpoint,
        querystring: ProjectListQuery,
        response: { 200: envelope(CheckpointFilePage) },
      },
    },
    async ({ user, params, query }) => {
      await openProject(own, user.id, params.id, 'read')
      const from = query.cursor === undefined ? 0 : readCursor(query.cursor, FileCursor)
      const row = await records.find(params.id, params.cid)
      if (row === undefined) throw appError('checkpoint_not_found')
      const files = await records.files(row, from, query.limit ?? DEFAULT_LIMIT)
      const next = from + files.length
      const hasMore = next < row.fileCount && files.length > 0
      return success({
        items: files.map(({ path, change }) => ({ path, change })),
        next_cursor: hasMore ? String(next) : null,
        has_more: hasMore,
      })
    },
  )

  app.get(
    '/api/projects/:id/checkpoints/:cid/diff',
    {
      schema: {
        summary: 'Get the diff of a change, or of everything since then',
        tags,
        params: OneCheckpoint,
        querystring: CheckpointDiffQuery,
        response: { 200: envelope(CheckpointDiff) },
      },
    },
    async ({ user, params, query }) => {
      const { workspace } = await openProject(own, user.id, params.id, 'read')
      const against = query.against ?? 'change'
      const { files, fileCount } = await diffCheckpoint(workspace, params.cid, against, {
        records,
        checkpoints,
        makeDiff,
        pool,
      })
      return success({ files, file_count: fileCount })
    },
  )
}

/** Routes that restore an earlier state. */
function registerRestore(
  app: App,
  { store: { projects }, workspace: services }: Pick<Services, 'store' | 'workspace'>,
): void {
  const { checkpoints, workspaces } = services
  const own = { projects, workspaces }

  app.post(
    '/api/projects/:id/checkpoints/:cid/restore',
    {
      schema: {
        summary: 'Restore the files to their state before a change',
        tags,
        params: OneCheckpoint,
        response: { 200: envelope(Restored) },
      },
    },
    async ({ user, params }) => {
      const { workspace } = await openProject(own, user.id, params.id, 'change')
      const { restored, checkpoint } = await checkpoints.restore(
        workspace,
        params.cid,
        RESTORE_ORIGIN,
      )
      return success({
        restored,
        checkpoint: presentCheckpoint({ ...checkpoint, actorName: user.username }),
      })
    },
  )

  app.post(
    '/api/projects/:id/checkpoints/restore',
    {
      schema: {
        summary: 'Restore the files to their state before a message',
        tags,
        params: InProject,
        body: RestoreBody,
        response: { 200: envelope(Restored) },
      },
    },
    async ({ user, params, body }) => {
      const { restored, checkpoint } = await restoreBeforeMessage(services, {
        userId: user.id,
        projectId: params.id,
        messageId: body.before_message_id,
      })
      return success({
        restored,
        checkpoint: presentCheckpoint({ ...checkpoint, actorName: user.username }),
      })
    },
  )
}

function readCursor<Place>(cursor: string, form: z.ZodType<Place>): Place {
  const read = form.safeParse(cursor)
  if (!read.success) throw appError('cursor_invalid')
  return read.data
}

function presentCheckpoint(row: CheckpointRow & { actorName: string | null }): Checkpoint {
  return {
    id: row.id,
    created_at: row.createdAt.toISOString(),
    message_id: row.messageId,
    run_id: row.runId,
    user: row.actorName === null ? null : { id: row.actorId ?? row.userId, name: row.actorName },
    tool: row.tool,
    files: row.sample,
    file_count: row.fileCount,
  }
}
