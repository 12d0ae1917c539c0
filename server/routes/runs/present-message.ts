// Converts messages and runs to the wire format.
import type { AttachmentInfo } from '../../db/repositories/conversations/attachments.ts'
import type { FullMessage } from '../../db/repositories/conversations/messages.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import type { LongText } from '../../lib/json-pieces.ts'
import {
  type Message,
  type StoredAttachment,
  UNFINISHED_STATUSES,
} from '../../protocol/conversations/message.ts'
import type { PendingInput } from '../../protocol/runs/input.ts'
import type { Run } from '../../protocol/runs/run.ts'
import type { PendingApproval } from '../../protocol/runs/run-event.ts'
import { timingOf } from '../../protocol/runs/run-timeline.ts'
import type { Step } from '../../protocol/runs/step.ts'
import { usageOfRun } from '../../protocol/runs/usage.ts'

/** The wire format of a message. */
export function presentMessage(row: FullMessage): Message {
  const attachments = row.attachments.map((file) => presentAttachment(row, file))
  const shared = {
    id: row.id,
    role: row.role,
    text: row.text,
    token_count: row.tokenCount,
    parent_id: row.parentId,
    siblings: row.siblings,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    ...(attachments.length === 0 ? {} : { attachments }),
  }
  if (row.role === 'user') return shared
  return {
    ...shared,
    tool_calls: toolCalls(row.steps),
    process_steps: row.steps,
    model: row.model,
    run_id: row.runId,
    error: row.error,
    error_code: row.status === 'failed' ? (row.failure?.code ?? null) : null,
    error_reason: row.status === 'failed' ? (row.failure?.reason ?? null) : null,
    error_params: row.status === 'failed' ? (row.failure?.params ?? null) : null,
    finish_reason: row.finishReason,
    limit: row.reachedLimit,
    usage: row.usage === null ? null : usageOfRun(row.usage),
    timing: UNFINISHED_STATUSES.includes(row.status) ? null : timingOf(row.timeline ?? []),
    ...(row.editedFrom === null ? {} : { edited_from: row.editedFrom }),
    ...(row.feedback === null ? {} : { feedback: row.feedback }),
  }
}

const presentAttachment = (
  { id, conversationId }: FullMessage,
  file: AttachmentInfo,
): StoredAttachment => ({
  ...(file.fileId === null ? {} : { file_id: file.fileId }),
  name: file.name,
  mime: file.mime,
  size: file.size,
  ...(file.extension === null ? {} : { extension: file.extension }),
  ...(file.width === null ? {} : { width: file.width }),
  ...(file.height === null ? {} : { height: file.height }),
  ...(file.pages === null ? {} : { pages: file.pages }),
  ...(file.documentId === null || file.documentProjectId === null
    ? {}
    : { document: { id: file.documentId, project_id: file.documentProjectId } }),
  url:
    file.fileId === null
      ? `/api/conversations/${conversationId}/messages/${id}/attachments/${file.position}`
      : `/api/files/${file.fileId}`,
})

/** Replaces long texts with readers, so that they are read from the store while the message is sent. */
export function withLongTexts(message: Message, { longTexts }: FullMessage): unknown {
  if (longTexts.size === 0) return message
  const results = new Map<string, LongText>()
  const calls = new Map<string, LongText>()
  const steps = message.process_steps?.map((step) => {
    const long = longTexts.get(step.index)
    if (long === undefined) return step
    if (step.type !== 'tool_call') {
      if (step.type === 'tool_result') results.set(step.id_ref, long)
      return { ...step, content: long }
    }
    calls.set(step.id_ref, long)
    return { ...step, arguments: long }
  })
  return {
    ...message,
    text: longTexts.get('text') ?? message.text,
    ...(steps === undefined ? {} : { process_steps: steps }),
    ...(message.tool_calls === undefined
      ? {}
      : {
          tool_calls: message.tool_calls.map((call) => ({
            ...call,
            function: {
              ...call.function,
              arguments: calls.get(call.id) ?? call.function.arguments,
            },
            result: results.get(call.id) ?? call.result,
          })),
        }),
  }
}

/** The tool calls of an answer in OpenAI's format, each with its result. */
function toolCalls(steps: readonly Step[]): NonNullable<Message['tool_calls']> {
  const results = new Map(
    steps.flatMap((step) => (step.type === 'tool_result' ? [[step.id_ref, step.content]] : [])),
  )
  return steps.flatMap((step) =>
    step.type === 'tool_call'
      ? [
          {
            id: step.id_ref,
            type: 'function' as const,
            function: { name: step.name, arguments: step.arguments },
            result: results.get(step.id_ref) ?? null,
          },
        ]
      : [],
  )
}

/** What a run waits for while it is active, as `presentRun` expects it. */
export interface WaitsFor {
  approvals: PendingApproval[]
  inputs: PendingInput[]
}

/** Reads what a run waits for. */
export const waitsFor = async (
  store: Pick<Store, 'runs' | 'runInputs'>,
  run: RunRow,
): Promise<WaitsFor> => {
  const [approvals, inputs] = await Promise.all([
    store.runs.pendingApprovals([run.id]),
    store.runInputs.pending([run.id]),
  ])
  return { approvals: approvals.get(run.id) ?? [], inputs: inputs.get(run.id) ?? [] }
}

/** The wire format of a run. */
export const presentRun = (row: RunRow, pending: WaitsFor): Run => ({
  id: row.id,
  conversation_id: row.conversationId,
  message_id: row.messageId,
  user_message_id: row.userMessageId,
  status: row.status,
  model: row.model,
  usage: usageOfRun(row),
  finish_reason: row.finishReason,
  limit: row.reachedLimit,
  error: row.error,
  pending_approvals: row.endedAt === null ? pending.approvals : [],
  pending_inputs: row.endedAt === null ? pending.inputs : [],
  created_at: row.createdAt.toISOString(),
  ended_at: row.endedAt?.toISOString() ?? null,
})
