// Answers in the form that a request requires, whether or not the provider can be told so.
import { type AppError, appError } from '../errors.ts'
import type { AnswerFormat } from '../protocol/runs/answer-format.ts'
import type { LlmClient, LlmEvent, LlmMessage, LlmRequest } from './client.ts'
import type { ProseSink } from './prose.ts'
import { readTolerantly } from './tolerant-json.ts'
import { addCounts, NO_TOKENS, type TokenCounts } from './usage.ts'

/** What a provider can be told about the form of an answer. */
export type FormatSupport = 'schema' | 'object' | 'none'

/** How often a model is told what is wrong with its answer. */
const MAX_CORRECTIONS = 2

type Required = NonNullable<LlmRequest['format']>
type End = Extract<LlmEvent, { type: 'finished' | 'failed' }>

/**
 * Requires the form from the provider where that is possible, and otherwise describes it to the model. Either way the answer is
 * checked, and the model is asked again when it is wrong. Text beside tool calls counts as thinking, so that the answer is
 * nothing but JSON.
 * @param model the name for people.
 * @returns what a request that requires a form is answered with.
 */
export function withAnswerFormat(
  client: LlmClient,
  { model, support }: { model: string; support: FormatSupport },
): (request: LlmRequest, required: Required) => AsyncGenerator<LlmEvent> {
  /**
   * Whether the provider takes the field for any JSON object. Only this is remembered: a schema may be refused for what is
   * in it, and others have other schemas.
   */
  let takesObjects = true
  return async function* inFormat(request, required) {
    // Without a schema, the most that can be told is that the answer is an object.
    const most = required.format.type === 'json_object' && support === 'schema' ? 'object' : support
    let level = most === 'object' && !takesObjects ? 'none' : most
    let refusesObjects = false
    let usage: TokenCounts = NO_TOKENS
    let corrections: LlmMessage[] = []
    for (let attempt = 1; ; attempt += 1) {
      const response = yield* callOnce(client, request, { required, level, corrections, usage })
      const { end, text, isSent } = response
      if (end.type === 'failed') {
        // Many compatible providers refuse the field, each in its own words.
        if (level === 'none' || !isRefused(end.error) || !response.isEmpty) return yield end
        refusesObjects ||= level === 'object'
        level = level === 'schema' && takesObjects ? 'object' : 'none'
        attempt -= 1
        continue
      }
      // The same request worked without the field, so that it was the field that was refused.
      if (refusesObjects) takesObjects = false
      usage = end.usage
      if (end.reason !== 'stop') {
        const kind = end.reason === 'length' ? 'text' : 'thinking'
        if (text !== '' && !isSent) await request.prose.append(kind, text)
        return yield end
      }
      const { json, fault } = await checked(text, required)
      if (fault === null) {
        if (!isSent) await request.prose.append('text', json)
        return yield end
      }
      const error = appError('model_answer_not_in_format', { model }, { details: { fault } })
      if (attempt > MAX_CORRECTIONS || isSent || request.signal.aborted)
        return yield { type: 'failed', error, usage }
      yield { type: 'retrying', attempt, delayMs: 0, error }
      corrections = [
        { role: 'assistant', content: text },
        {
          role: 'user',
          content: `That answer does not have the required form: ${fault} Answer again, with the JSON only.`,
        },
      ]
    }
  }
}

/** Whether the provider refuses the form rather than the request: a request that is wrong otherwise is not sent again. */
const isRefused = ({ code, message }: AppError): boolean =>
  code === 'model_refused' && /json|schema|format|unsupported|not support/i.test(message)

/** One call. What it thinks is passed on; its text only if nothing can be wrong with it that another call would correct. */
async function* callOnce(
  client: LlmClient,
  request: LlmRequest,
  {
    required,
    level,
    corrections,
    usage,
  }: {
    required: Required
    level: FormatSupport
    corrections: readonly LlmMessage[]
    usage: TokenCounts
  },
): AsyncGenerator<LlmEvent, { end: End; text: string; isSent: boolean; isEmpty: boolean }> {
  const { format, ...rest } = told(request, required, level)
  const isSent =
    level === 'schema' && format?.format.type === 'json_schema' && rest.tools.length === 0
  let text = ''
  let isEmpty = true
  let end: End = { type: 'failed', error: appError('model_answer_unfinished') }
  const messages = [...rest.messages, ...corrections]
  const prose: ProseSink = {
    append(kind, piece) {
      isEmpty = false
      if (kind === 'text') text += piece
      return kind === 'text' && !isSent ? undefined : request.prose.append(kind, piece)
    },
    textWasThinking() {
      const thought = text
      text = ''
      if (isSent) return request.prose.textWasThinking()
      return thought === '' ? undefined : request.prose.append('thinking', thought)
    },
  }
  const call = client.stream({
    ...rest,
    messages,
    prose,
    ...(format === undefined ? {} : { format }),
  })
  for await (const event of call) {
    if (event.type !== 'retrying' && event.type !== 'failed') isEmpty = false
    if (event.type === 'finished') end = { ...event, usage: addCounts(usage, event.usage) }
    else if (event.type === 'failed')
      end = { ...event, usage: addCounts(usage, event.usage ?? NO_TOKENS) }
    else yield event
  }
  return { end, text, isSent, isEmpty }
}

/** The request with what the provider can be told, and the rest as an instruction for the model. */
function told(request: LlmRequest, required: Required, level: FormatSupport): LlmRequest {
  const { format } = required
  const { format: _format, ...rest } = request
  const isSchema = format.type === 'json_schema'
  if (isSchema && level === 'schema') return request
  const field: AnswerFormat | null = level === 'none' ? null : { type: 'json_object' }
  const instruction = isSchema
    ? `Answer with one JSON value that matches this JSON schema, and with nothing else: no explanation, no Markdown.\n${JSON.stringify(format.schema)}`
    : 'Answer with one JSON object, and with nothing else: no explanation, no Markdown.'
  return {
    ...rest,
    messages: withInstruction(request.messages, instruction),
    ...(field === null ? {} : { format: { ...required, format: field } }),
  }
}

function withInstruction(messages: readonly LlmMessage[], instruction: string): LlmMessage[] {
  const [first, ...others] = messages
  return first?.role === 'system'
    ? [{ ...first, content: `${first.content}\n\n${instruction}` }, ...others]
    : [{ role: 'system', content: instruction }, ...messages]
}

/** The JSON of an answer, without what models like to put around it, and what is wrong with it. */
async function checked(
  text: string,
  { check }: Required,
): Promise<{ json: string; fault: string | null }> {
  const json = text.trim().replace(/^```(?:json)?\s*\n([\s\S]*?)\n?```$/, '$1')
  const read = readTolerantly(json, { mayClose: false })
  if (read === null) return { json, fault: 'It is not JSON.' }
  return { json: read.json, fault: await check(JSON.parse(read.json)) }
}
