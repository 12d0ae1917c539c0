// Translates a chat completion request into a request to the chat.
import type { ProgramRequest } from '../chat/program-runs.ts'
import type { ChatCompletionBody, ChatMessage } from '../protocol/openai/chat-completions.ts'
import { modelIdOf } from './names.ts'
import { type PastEntry, readPast } from './past.ts'

/** The options that a request states in its headers. */
export interface CallerWishes {
  /** Whether calls that need approval wait for a person. The conversation is then stored, so that a person finds it. */
  waitsForApproval: boolean
  /** Whether the request can be repeated: then its run continues when the connection is lost. */
  isRepeatable: boolean
}

const textOf = (
  content: string | readonly ({ text: string } | { refusal: string } | object)[],
): string =>
  typeof content === 'string'
    ? content
    : content
        .map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : ''))
        .join('')

function entriesOf(message: ChatMessage): PastEntry[] {
  switch (message.role) {
    case 'system':
    case 'developer':
      return [{ kind: 'system', text: textOf(message.content) }]
    case 'user': {
      const images =
        typeof message.content === 'string'
          ? []
          : message.content.flatMap((part) =>
              part.type === 'image_url' ? [part.image_url.url] : [],
            )
      return [{ kind: 'user', text: textOf(message.content), images }]
    }
    case 'assistant':
      return [
        { kind: 'answer', text: textOf(message.content ?? '') },
        ...(message.tool_calls ?? []).map(
          (call): PastEntry => ({ kind: 'call', id: call.id, ...call.function }),
        ),
      ]
    case 'tool':
      return [{ kind: 'result', id: message.tool_call_id, text: textOf(message.content) }]
  }
}

/** @throws AppError as `readPast`. */
export function readChatRequest(body: ChatCompletionBody, wishes: CallerWishes): ProgramRequest {
  const { system, ...past } = readPast(body.messages.flatMap(entriesOf))
  return {
    ...past,
    model: modelIdOf(body.model),
    systemPrompt: system,
    temperature: body.temperature,
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
    thinking: body.reasoning_effort === undefined ? undefined : body.reasoning_effort !== 'none',
    projectId: body.nanoclaw?.project_id,
    isTemporary: body.store !== true && !wishes.waitsForApproval,
    toolsEnabled: body.nanoclaw?.server_tools ?? true,
    toolChoice: body.tool_choice,
    clientTools: (body.tools ?? []).map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? '',
      parameters: parameters ?? { type: 'object', properties: {} },
    })),
    refusesApprovals: !wishes.waitsForApproval,
    onDisconnect: wishes.isRepeatable || wishes.waitsForApproval ? 'grace' : 'stop',
  }
}
