// The interface to language models, implemented by every provider client and wrapper.
import type { Language } from '../../locales/languages.ts'
import type { AppError } from '../errors.ts'
import type { ToolChoice } from '../protocol/conversations/message.ts'
import type { CallId } from '../protocol/ids.ts'
import type { Thinking } from '../protocol/models/catalog.ts'
import type { AnswerFormat } from '../protocol/runs/answer-format.ts'
import type { Carry } from './carry.ts'
import type { ProviderExchange } from './exchange.ts'
import type { ProseSink } from './prose.ts'
import type { TokenCounts } from './usage.ts'

/** A call as the model requested it. Its arguments are unchecked. */
export interface ToolCall {
  id: CallId
  name: string
  /** JSON text as the model wrote it; serialized if the provider sent an object, `{}` if it sent nothing. */
  arguments: string
}

/** A tool in OpenAI's function format. */
export interface ToolSchema {
  type: 'function'
  function: { name: string; description: string; parameters: Record<string, unknown> }
}

/** A PDF for models that read PDF files, with its text for those that do not. */
export interface Document {
  name: string
  /** The PDF as base64. */
  data: string
  pages: number
  /** The text that the server extracted from it. */
  text: string
}

/** An image as models receive it; `data` is base64. */
export interface ModelImage {
  mime: string
  data: string
}

/** A message. Each client translates it into the format of its provider. */
export type LlmMessage =
  | { role: 'system'; content: string }
  | {
      role: 'user'
      content: string
      images?: readonly ModelImage[]
      /** Only models that read PDF files receive them; clients of other models send their texts. */
      documents?: readonly Document[]
      /** Text that the server adds before the user's own, because it must not be in the system message. */
      context?: string
    }
  | {
      role: 'assistant'
      content: string
      reasoning?: string
      toolCalls?: readonly ToolCall[]
      /** Data of the client that received this message. */
      carry?: Carry | undefined
    }
  | {
      role: 'tool'
      callId: CallId
      name: string
      content: string
      /** Pictures that belong to the result. Clients of models without vision say that they are omitted. */
      images?: readonly ModelImage[]
    }

/** One model call, independent of the provider. */
export interface LlmRequest {
  messages: readonly LlmMessage[]
  /** Empty if the model must not call tools in this iteration. */
  tools: readonly ToolSchema[]
  toolChoice?: ToolChoice
  temperature?: number
  maxTokens?: number
  thinking?: Thinking
  /** Equal for all requests that begin with the same text, so that a provider can route them to the same cache. */
  cacheKey?: string
  /** The form that the answer must have. Clients of providers send it; `check` resolves to what is wrong with a value, or null. */
  format?: { format: AnswerFormat; check: (value: unknown) => Promise<string | null> }
  /** The language of the reader's page, for the demo: models read it from what was written. */
  language?: Language
  /** How often the call is repeated at most if the provider is busy or unavailable. Default: as usual. */
  retries?: number
  /** Receives what the model writes, while it is read. */
  prose: ProseSink
  /** Clients add their exchanges with providers here, for the inspector. */
  exchanges?: ProviderExchange[]
  /** Aborting closes the connection to the provider within a second. */
  signal: AbortSignal
}

/** What a client yields while the model answers, besides the prose. */
export type LlmEvent =
  /** A tool call; emitted once its arguments are complete. */
  | { type: 'tool_call'; call: ToolCall }
  /** Not part of the answer: an attempt failed and another one follows. For the log and the page. */
  | {
      type: 'retrying'
      attempt: number
      delayMs: number
      /** Why the attempt failed. */
      error: AppError
      /** The name of the next model to be called, if it is another one. */
      nextModel?: string
    }
  /**
   * The end. `reason` is `tool_calls` whenever there were calls, whatever the provider reported. `usage` comes from the
   * provider; otherwise, it is an estimate (`estimated: true`). `model` is the id of the model that answered.
   */
  | {
      type: 'finished'
      reason: 'stop' | 'tool_calls' | 'length'
      usage: TokenCounts
      estimated: boolean
      model: string
      /** Data that the provider requires back with this message. */
      carry?: Carry | undefined
    }
  /**
   * The end after a failure or an abort. After an abort, ignore `error` and check the signal. Earlier events remain valid.
   */
  | { type: 'failed'; error: AppError; usage?: TokenCounts }

/** A model that answers: the common interface of provider clients, retries, fallbacks and prompt mode. */
export interface LlmClient {
  /**
   * Streams one model response: what the model writes goes to `request.prose`, joined where it arrived together, before the
   * events that follow it are yielded. Throws only what `request.prose` throws. The last event is `finished` or `failed`.
   * Reacts to the signal within 1 s.
   */
  stream(request: LlmRequest): AsyncIterable<LlmEvent>
}
