// Background tasks of a conversation on the wire.
import { z } from 'zod'
import { Timestamp } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { MessageId, RunId } from '../ids.ts'
import { RunStatus } from './run.ts'
import { PendingApproval } from './run-event.ts'
import { Usage } from './usage.ts'

/** A background task of a conversation: a separate run, as its card shows it. */
export const BackgroundTask = z
  .object({
    /** Also the id of its run: its events, approvals and state are under `/api/runs`. */
    id: RunId,
    task: z.string(),
    /** Whether its answer is added to the conversation automatically. */
    announce: z.boolean(),
    status: RunStatus,
    /** The message with its answer; part of the conversation once announced. */
    message_id: MessageId,
    /** Its answer, '' until there is one. */
    result: z.string(),
    error: z.string().nullable(),
    /** The machine-readable reason of `error`, as in error responses. */
    reason: z.string().nullable(),
    params: ErrorParams.nullable(),
    usage: Usage,
    pending_approvals: z.array(PendingApproval),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'BackgroundTask' })
export type BackgroundTask = z.infer<typeof BackgroundTask>

export const BackgroundTaskList = z.object({ items: z.array(BackgroundTask) })
