// The built-in demo model: no network, deterministic answers, and real tool calls for simple requests.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallId } from '../../protocol/ids.ts'
import { estimateTokens } from '../../protocol/models/token-estimate.ts'
import type { LlmClient, LlmEvent, LlmMessage, LlmRequest, ToolCall } from '../client.ts'
import { abortedFailure } from '../failure.ts'
import { PROJECT_NOTE } from '../project-note.ts'
import { estimatePromptTokens } from '../tokens.ts'
import { demoLanguageOf } from './demo-language.ts'
import { type DemoCall, readIntents } from './intents.ts'
import { asksForTour, tourPart } from './tour.ts'

export const DEMO_MODEL_ID = 'demo'

/** The output of the demo in one iteration. */
interface Plan {
  thinking: string
  text: string
  calls: readonly DemoCall[]
}

/** Characters per piece, and milliseconds between pieces. */
const PIECE = 6
const DELAY_MS = 12
/** Only this much of a message decides the language. */
const MAX_QUESTION = 2000

/** @param options.delayMs milliseconds between pieces; 0 sends them as fast as they are read. */
export function createDemoClient(options: { delayMs?: number } = {}): LlmClient {
  const delayMs = options.delayMs ?? DELAY_MS
  return {
    async *stream(request) {
      const plan = planFor(request)
      try {
        for (const [type, text] of [
          ['thinking_delta', plan.thinking],
          ['text_delta', plan.text],
        ] as const) {
          for (const piece of pieces(text)) {
            request.signal.throwIfAborted()
            if (delayMs > 0) await sleep(delayMs, undefined, { signal: request.signal })
            yield [{ type, text: piece }]
          }
        }
        request.signal.throwIfAborted()
      } catch {
        return yield [{ type: 'failed', error: abortedFailure({ model: DEMO_MODEL_ID }) }]
      }
      yield ending(request, plan)
    },
  }
}

function ending(request: LlmRequest, plan: Plan): LlmEvent[] {
  const earlier = request.messages.reduce(
    (sum, message) => sum + (message.role === 'assistant' ? (message.toolCalls?.length ?? 0) : 0),
    0,
  )
  const calls = plan.calls.map(
    (call, index): ToolCall => ({
      // Numbered through the conversation, so that ids are unique.
      id: `call_demo_${earlier + index + 1}` as CallId,
      name: call.tool,
      arguments: JSON.stringify(call.arguments),
    }),
  )
  const prompt = estimatePromptTokens(request)
  const completion = estimateTokens(plan.thinking + plan.text + JSON.stringify(calls))
  return [
    ...calls.map((call): LlmEvent => ({ type: 'tool_call', call })),
    {
      type: 'finished',
      reason: calls.length > 0 ? 'tool_calls' : 'stop',
      usage: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
      },
      estimated: true,
      model: DEMO_MODEL_ID,
    },
  ]
}

function planFor(request: LlmRequest): Plan {
  const asked = request.messages.findLastIndex((message) => message.role === 'user')
  const question = request.messages[asked]?.content ?? ''
  const { texts: say, toolName } = demoLanguageOf(question.slice(0, MAX_QUESTION))
  const results = request.messages.slice(asked + 1).filter((message) => message.role === 'tool')
  const known = new Set(request.tools.map((tool) => tool.function.name))
  if (asksForTour(question)) {
    const done = new Map(results.map((result) => [result.name, hasSucceeded(result.content)]))
    const hasProject = request.messages.some(
      ({ role, content }) => role === 'system' && content.includes(PROJECT_NOTE),
    )
    // The number of messages grows, so a second tour in the conversation writes another file.
    const fileName = hasProject ? `tour-${request.messages.length}.md` : null
    const part = tourPart(say.tour, done, known, fileName)
    return { thinking: say.thinkingTour, ...part }
  }
  if (results.length > 0) {
    const parts = results.map(
      (result) => `${say.result(toolName(result.name))} ${readable(result)}`,
    )
    return { thinking: say.thinkingAfter, text: [...parts, say.signature].join('\n\n'), calls: [] }
  }
  const intendedCalls = readIntents(question)
  const calls = intendedCalls.filter((call) => known.has(call.tool))
  if (calls.length > 0) {
    const names = calls.map((call) => toolName(call.tool)).join(', ')
    return { thinking: say.thinkingBefore(names), text: say.calling(names), calls }
  }
  const missing = intendedCalls.map((call) => toolName(call.tool)).join(', ')
  return {
    thinking: say.thinkingPlain,
    text: missing === '' ? say.introduction : say.noTool(missing),
    calls: [],
  }
}

/** Formats a tool result for people: its single value if it has one, otherwise all data. */
function readable(result: Extract<LlmMessage, { role: 'tool' }>): string {
  const parsed = parse(result.content)
  if (parsed.success === false) return `\n\n> ${String(parsed.error ?? 'failed')}`
  const data = parsed.data ?? parsed
  if (typeof data !== 'object' || data === null) return `**${String(data)}**`
  const single = ['result', 'area', 'time', 'content'].find((key) => key in data)
  const value: unknown = single === undefined ? undefined : Reflect.get(data, single)
  if (typeof value === 'number') return `**${value}**`
  if (typeof value === 'string')
    return value.includes('\n')
      ? `\n\n${value.length > 1500 ? `${value.slice(0, 1500)} …` : value}`
      : `**${value}**`
  const text = JSON.stringify(data, null, 2)
  return `\n\n\`\`\`json\n${text.length > 3000 ? `${text.slice(0, 3000)} …` : text}\n\`\`\``
}

const hasSucceeded = (text: string): boolean => parse(text).success !== false

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : { data: value }
  } catch {
    return { data: text }
  }
}

function pieces(text: string): string[] {
  const characters = [...text]
  return Array.from({ length: Math.ceil(characters.length / PIECE) }, (_, index) =>
    characters.slice(index * PIECE, (index + 1) * PIECE).join(''),
  )
}
