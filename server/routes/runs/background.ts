// Routes for the background tasks of a conversation: list and stop.

import { z } from 'zod'
import type { BackgroundTask as Task } from '../../chat/background.ts'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ConversationId, RunId } from '../../protocol/ids.ts'
import { type BackgroundTask, BackgroundTaskList } from '../../protocol/runs/background.ts'
import { Run } from '../../protocol/runs/run.ts'
import type { PendingApproval } from '../../protocol/runs/run-event.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'
import { presentRun } from './present-message.ts'

const OfConversation = z.object({ id: ConversationId })

/** `/api/conversations/:id/background` and `/api/conversations/:id/background/:bid/stop`. */
export function registerBackgroundRoutes(
  app: App,
  { background, store }: Pick<Services, 'background' | 'store'>,
): void {
  const tags = ['conversations']

  app.get(
    '/api/conversations/:id/background',
    {
      schema: {
        summary: 'List background tasks, oldest first',
        tags,
        params: OfConversation,
        response: { 200: envelope(BackgroundTaskList) },
      },
    },
    async ({ user, params }) => {
      const tasks = await background.list(user.id, params.id)
      const pending = await store.runs.pendingApprovals(tasks.map(({ run }) => run.id))
      const items = tasks.map((task) => presentTask(task, pending.get(task.run.id) ?? []))
      return success({ items })
    },
  )

  app.post(
    '/api/conversations/:id/background/:bid/stop',
    {
      schema: {
        summary: 'Stop a background task; its partial answer is kept',
        tags,
        params: OfConversation.extend({ bid: RunId }),
        response: { 200: envelope(Run) },
      },
    },
    async ({ user, params }) => {
      const run = await background.stop(user.id, params.id, params.bid)
      return success(presentRun(run, { approvals: [], inputs: [] }))
    },
  )
}

const presentTask = (
  { run, task, announce, result }: Task,
  pending: PendingApproval[],
): BackgroundTask => {
  const shown = presentRun(run, { approvals: pending, inputs: [] })
  return {
    id: run.id,
    task,
    announce,
    status: shown.status,
    message_id: run.messageId,
    result,
    error: run.error?.content ?? null,
    reason: run.error?.reason ?? run.error?.code ?? null,
    params: run.error?.params ?? null,
    usage: shown.usage,
    pending_approvals: shown.pending_approvals,
    created_at: shown.created_at,
    ended_at: shown.ended_at,
  }
}
