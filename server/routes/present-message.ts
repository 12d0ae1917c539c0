// Messages and runs as the wire spells them.
import type { FullMessage } from '../db/repositories/messages.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import type { Message } from '../protocol/message.ts'
import type { Run } from '../protocol/run.ts'
import type { PendingApproval } from '../protocol/run-event.ts'
import type { Step } from '../protocol/step.ts'

export function presentMessage(row: FullMessage): Message {
  const shared = {
    id: row.id,
    role: row.role,
    text: row.text,
    token_count: row.tokenCount,
    parent_id: row.parentId,
    siblings: row.siblings,
    status: row.status,
    created_at: row.createdAt.toISOString(),
  }
  if (row.role === 'user')
    return row.attachments.length === 0 ? shared : { ...shared, attachments: row.attachments }
  return {
    ...shared,
    tool_calls: toolCalls(row.steps),
    process_steps: row.steps,
    model: row.model,
    run_id: row.runId,
    error: row.error,
  }
}

/** The calls of an answer in the OpenAI form, each with its result. */
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

export const presentRun = (row: RunRow, pending: PendingApproval[]): Run => ({
  id: row.id,
  conversation_id: row.conversationId,
  message_id: row.messageId,
  user_message_id: row.userMessageId,
  status: row.status,
  model: row.model,
  usage: {
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    total_tokens: row.promptTokens + row.completionTokens,
  },
  finish_reason: row.finishReason,
  error: row.error,
  pending_approvals: row.endedAt === null ? pending : [],
  created_at: row.createdAt.toISOString(),
  ended_at: row.endedAt?.toISOString() ?? null,
})
