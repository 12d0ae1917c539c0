// The one interface to language models: every provider, wrapper and substitute is an `LlmClient`.
import type { AppError } from '../errors.ts'
import type { Thinking } from '../protocol/catalog.ts'
import type { ErrorParams } from '../protocol/error.ts'
import type { CallId } from '../protocol/ids.ts'
import type { ToolChoice } from '../protocol/message.ts'
import type { Usage } from '../protocol/run-event.ts'

export interface ToolCall {
  id: CallId
  name: string
  /** JSON text as the model wrote it (an object's text when the provider sent an object, `{}` when it sent nothing). */
  arguments: string
}

/** A tool as the model gets it (OpenAI function format). */
export interface ToolSchema {
  type: 'function'
  function: { name: string; description: string; parameters: Record<string, unknown> }
}

export type LlmMessage =
  | { role: 'system'; content: string }
  | {
      role: 'user'
      content: string
      images?: readonly { mime: string; data: string }[]
      /** What the server adds before the user's own text, when it must not be in the system message. */
      context?: string
    }
  | { role: 'assistant'; content: string; reasoning?: string; toolCalls?: readonly ToolCall[] }
  | { role: 'tool'; callId: CallId; name: string; content: string }

export interface LlmRequest {
  messages: readonly LlmMessage[]
  /** Empty when the model may not call tools in this iteration. */
  tools: readonly ToolSchema[]
  toolChoice?: ToolChoice
  temperature?: number
  maxTokens?: number
  thinking?: Thinking
  /** Aborting closes the upstream socket within a second. */
  signal: AbortSignal
}

export type LlmEvent =
  | { type: 'thinking_delta' | 'text_delta'; text: string }
  /** A complete call; sent when its arguments are complete. */
  | { type: 'tool_call'; call: ToolCall }
  /** Not part of the answer: an attempt failed and another one follows, for the log and the page. */
  | {
      type: 'retrying'
      attempt: number
      delayMs: number
      reason: string
      /** The failure that is retried. */
      code?: string
      params?: ErrorParams | undefined
    }
  /**
   * The end. `reason` is `tool_calls` whenever there were calls, whatever the provider said.
   * `usage` is what the provider reported, else an estimate (`estimated: true`). `model` is the one that answered.
   */
  | {
      type: 'finished'
      reason: 'stop' | 'tool_calls' | 'length'
      usage: Usage
      estimated: boolean
      model: string
    }
  /**
   * The end, after a failure or an abort (`error.code` is then irrelevant; check the signal). What was sent before
   * remains valid.
   */
  | { type: 'failed'; error: AppError; usage?: Usage }

export interface LlmClient {
  /**
   * One answer of the model, as batches: the events of one read of the socket come together, with adjacent deltas of
   * one kind joined, so that a burst costs one turn of the event loop.
   * Contract: never throws once called; the last event is `finished` or `failed`; reacts to the signal within 1 s.
   */
  stream(request: LlmRequest): AsyncIterable<readonly LlmEvent[]>
}
