// Converts messages and runs to the wire format.
import type { AttachmentInfo } from '../../db/repositories/conversations/attachments.ts'
import type { FullMessage } from '../../db/repositories/conversations/messages.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import type { LongText } from '../../lib/json-pieces.ts'
import { citedIds } from '../../protocol/conversations/cited-ids.ts'
import {
  type Message,
  type StoredAttachment,
  UNFINISHED_STATUSES,
} from '../../protocol/conversations/message.ts'
import { failureFields } from '../../protocol/failures/stored.ts'
import type { PendingInput } from '../../protocol/runs/input.ts'
import { PAGE_ORIGIN } from '../../protocol/runs/origin.ts'
import type { Run } from '../../protocol/runs/run.ts'
import type { PendingApproval } from '../../protocol/runs/run-event.ts'
import { timingOf } from '../../protocol/runs/run-timeline.ts'
import type { Step } from '../../protocol/runs/step.ts'
import { usageOfRun } from '../../protocol/runs/usage.ts'
import { originOfRun } from '../../runs/state.ts'

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
    origin: row.origin ?? PAGE_ORIGIN,
    created_at: row.createdAt.toISOString(),
    ...(row.quiet ? { quiet: true } : {}),
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
    ...(row.receipt === null ? {} : { receipt: row.receipt }),
    ...(row.plan === null ? {} : { plan: row.plan }),
    ...presentCitations(row),
  }
}

/** The citations of an answer, and references in its text to which none belongs. */
function presentCitations({
  citations,
  steps,
  text,
}: FullMessage): Pick<Message, 'citations' | 'unknown_citations'> {
  const known = new Set((citations ?? []).map(({ id }) => String(id)))
  const texts = steps.flatMap((step) => (step.type === 'text' ? [step.content] : []))
  const cited = citedIds(texts.length === 0 ? text : texts.join('\n\n'))
  const unknown = cited.filter((id) => !known.has(id))
  return {
    ...(citations === null
      ? {}
      : { citations: citations.map(({ before: _before, after: _after, ...shown }) => shown) }),
    ...(unknown.length === 0 ? {} : { unknown_citations: unknown }),
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
  ...failureFields(file.failure),
  ...(file.documentId === null || file.documentProjectId === null
    ? {}
    : { document: { id: file.documentId, project_id: file.documentProjectId } }),
  url:
    file.fileId === null
      ? `/api/conversations/${conversationId}/messages/${id}/attachments/${file.position}`
      : `/api/files/${file.fileId}`,
})

/** Replaces long texts and artifacts with readers, so that they are read from the store while the message is sent. */
export function withLongTexts(
  message: Message,
  { longTexts, longArtifacts }: FullMessage,
): unknown {
  if (longTexts.size === 0 && longArtifacts.size === 0) return message
  const results = new Map<string, LongText>()
  const calls = new Map<string, LongText>()
  const steps = message.process_steps?.map((step) => {
    const artifact = longArtifacts.get(step.index)
    const long = longTexts.get(step.index)
    if (long === undefined) return artifact === undefined ? step : { ...step, artifact }
    if (step.type !== 'tool_call') {
      if (step.type === 'tool_result') results.set(step.id_ref, long)
      return { ...step, content: long, ...(artifact === undefined ? {} : { artifact }) }
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

/** What a run waits for, as `presentRun` expects it. */
export interface WaitsFor {
  approvals: PendingApproval[]
  inputs: PendingInput[]
  /** Calls of apps, which wait also after the run. */
  ofApps?: PendingApproval[]
}

/** Reads what a run waits for. */
export const waitsFor = async (
  store: Pick<Store, 'runs' | 'runInputs'>,
  run: RunRow,
): Promise<WaitsFor> => {
  const [approvals, inputs, ofApps] = await Promise.all([
    store.runs.pendingApprovals([run.id]),
    store.runInputs.pending([run.id]),
    store.runs.pendingApprovals([run.id], { byApp: true }),
  ])
  return {
    approvals: approvals.get(run.id) ?? [],
    inputs: inputs.get(run.id) ?? [],
    ofApps: ofApps.get(run.id) ?? [],
  }
}

/** The wire format of a run. */
export const presentRun = (row: RunRow, pending: WaitsFor): Run => ({
  id: row.id,
  conversation_id: row.conversationId,
  message_id: row.messageId,
  user_message_id: row.userMessageId,
  status: row.status,
  model: row.model,
  origin: originOfRun(row),
  usage: usageOfRun(row),
  finish_reason: row.finishReason,
  limit: row.reachedLimit,
  error: row.error,
  pending_approvals: [
    ...(row.endedAt === null ? pending.approvals : []),
    ...(pending.ofApps ?? []),
  ],
  pending_inputs: row.endedAt === null ? pending.inputs : [],
  created_at: row.createdAt.toISOString(),
  ended_at: row.endedAt?.toISOString() ?? null,
})
