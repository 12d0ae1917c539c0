// Translates a chat completion request into a request to the chat.
import type { ProgramRequest } from '../chat/program-runs.ts'
import type { ProgramTools } from '../protocol/accounts/user.ts'
import type { ChatCompletionBody, ChatMessage } from '../protocol/openai/chat-completions.ts'
import { readModelName } from './names.ts'
import { customArguments, readChatTools, toolsOfAnswer } from './offered-tools.ts'
import {
  audioFile,
  type PastEntry,
  readPast,
  type UploadSentFile,
  withStoredFiles,
} from './past.ts'
import { readFormat } from './read-format.ts'

/** The options that a request states in its headers. */
export interface CallerWishes {
  /** Whether calls that need approval wait for a person. The conversation is then stored, so that a person finds it. */
  waitsForApproval: boolean
  /** Whether the request can be repeated: then its run continues when the connection is lost. */
  isRepeatable: boolean
  /** Whether the answer uses the server's tools, as the header or the API key says. */
  tools: ProgramTools | undefined
  /** How often the server repeats a failed model call at most; undefined: as usual. */
  retries: number | undefined
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
      const files =
        typeof message.content === 'string'
          ? []
          : message.content.flatMap((part) => {
              if (part.type === 'input_audio') return [audioFile(part.input_audio)]
              if (part.type !== 'file') return []
              const { filename: name, file_data: data, file_id: id } = part.file
              return [{ name, data, id }]
            })
      return [{ kind: 'user', text: textOf(message.content), images, files }]
    }
    case 'assistant':
      return [
        { kind: 'answer', text: textOf(message.content ?? '') },
        ...(message.tool_calls ?? []).map(
          (call): PastEntry =>
            call.type === 'function'
              ? { kind: 'call', id: call.id, ...call.function }
              : {
                  kind: 'call',
                  id: call.id,
                  name: call.custom.name,
                  arguments: customArguments(call.custom.input),
                },
        ),
      ]
    case 'tool':
      return [{ kind: 'result', id: message.tool_call_id, text: textOf(message.content) }]
  }
}

/** @throws AppError as `withStoredFiles` and `readPast`. */
export async function readChatRequest(
  body: ChatCompletionBody,
  wishes: CallerWishes,
  upload: UploadSentFile,
): Promise<ProgramRequest> {
  const entries = await withStoredFiles(body.messages.flatMap(entriesOf), upload)
  const { system, ...past } = readPast(entries)
  const model = readModelName(body.model)
  const format = body.response_format
  const offered = readChatTools(body.tools, body.tool_choice)
  return {
    ...past,
    model: model.id,
    systemPrompt: system,
    temperature: body.temperature,
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
    thinking: body.reasoning_effort === undefined ? undefined : body.reasoning_effort !== 'none',
    projectId: body.nanoclaw?.project_id,
    ownFiles: body.nanoclaw?.files ?? false,
    isTemporary: body.store !== true && !wishes.waitsForApproval,
    ...toolsOfAnswer(offered, body.nanoclaw?.server_tools, model.tools ?? wishes.tools),
    ...readFormat(format?.type, format?.type === 'json_schema' ? format.json_schema : undefined),
    ...(wishes.retries === undefined ? {} : { retries: wishes.retries }),
    refusesApprovals: !wishes.waitsForApproval,
    onDisconnect: wishes.isRepeatable || wishes.waitsForApproval ? 'grace' : 'stop',
  }
}
