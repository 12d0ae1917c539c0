// The built-in demo model: no network, deterministic answers, and real tool calls for simple requests.
import { setTimeout as sleep } from 'node:timers/promises'
import type { DemoTexts } from '../../../locales/english.d.ts'
import type { Language } from '../../../locales/languages.ts'
import { filled, localeTexts } from '../../lib/locale-texts.ts'
import { textLanguage } from '../../lib/text-language.ts'
import type { CallId } from '../../protocol/ids.ts'
import { estimateTokens } from '../../protocol/models/token-estimate.ts'
import type { LlmClient, LlmEvent, LlmMessage, LlmRequest, ToolCall } from '../client.ts'
import { abortedFailure } from '../failure.ts'
import { estimatePromptTokens } from '../tokens.ts'
import { type DemoCall, readIntents } from './intents.ts'

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
      const { signal, prose } = request
      for (const kind of ['thinking', 'text'] as const)
        for (const piece of pieces(plan[kind])) {
          // An abort ends the sleep early, with an error that says nothing else.
          if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => undefined)
          if (signal.aborted) break
          await prose.append(kind, piece)
        }
      if (signal.aborted) yield { type: 'failed', error: abortedFailure({ model: DEMO_MODEL_ID }) }
      else yield* ending(request, plan)
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
  const { texts: say, toolName } = demoLanguageOf(question.slice(0, MAX_QUESTION), request.language)
  const results = request.messages.slice(asked + 1).filter((message) => message.role === 'tool')
  const known = new Set(request.tools.map((tool) => tool.function.name))
  if (asksForTour(question)) {
    const done = new Map(results.map((result) => [result.name, hasSucceeded(result.content)]))
    // A second tour in the conversation writes another file.
    const turns = request.messages.filter(({ role }) => role === 'user').length
    const part = tourPart(say.tour, done, known, turns === 1 ? 'tour.md' : `tour-${turns}.md`)
    return { thinking: say.thinkingTour, ...part }
  }
  if (results.length > 0) {
    const parts = results.map(
      (result) => `${filled(say.result, { name: toolName(result.name) })} ${readable(result)}`,
    )
    return { thinking: say.thinkingAfter, text: [...parts, say.signature].join('\n\n'), calls: [] }
  }
  const intendedCalls = readIntents(question)
  const calls = intendedCalls.filter((call) => known.has(call.tool))
  if (calls.length > 0) {
    const names = calls.map((call) => toolName(call.tool)).join(', ')
    return {
      thinking: filled(say.thinkingBefore, { names }),
      text: filled(say.calling, { names }),
      calls,
    }
  }
  const missing = intendedCalls.map((call) => toolName(call.tool)).join(', ')
  return {
    thinking: say.thinkingPlain,
    text: missing === '' ? say.introduction : filled(say.noTool, { names: missing }),
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

/** What the demo says in a language, and how it calls the tools. */
interface DemoLanguage {
  texts: DemoTexts
  toolName(name: string): string
}

function demoLanguage(language: Language): DemoLanguage {
  const names: Readonly<Record<string, string>> = localeTexts(language, 'tools').toolNames
  return {
    texts: localeTexts(language, 'demo'),
    toolName: (name) => (Object.hasOwn(names, name) ? (names[name] ?? name) : name),
  }
}

/** In the language of a message; if it tells none, such as `12 * 4`, in that of the reader's page. */
const demoLanguageOf = (message: string, reader: Language | undefined): DemoLanguage =>
  demoLanguage(textLanguage(message, reader))

/** What asks for the tour, in each of the page's languages. */
const ASKED = /\btour\b|导览|導覽|rundgang|visite guidée|recorrido|экскурси|ツアー|둘러보기/i

const MAX_TEXT = 500

/** Whether a message asks for the tour. */
const asksForTour = (message: string): boolean => message.length <= MAX_TEXT && ASKED.test(message)

type TourTexts = DemoTexts['tour']

const programOf = ({ plot }: TourTexts): string => `import math

# No package is needed for a plot: an SVG file in /output is shown.
hours = range(25)
degrees = [12 + 8 * math.sin((hour - 9) * math.pi / 12) for hour in hours]
points = " ".join(f"{40 + 18 * hour},{180 - 7 * degree:.0f}" for hour, degree in zip(hours, degrees))
grid = "".join(
    f'<path d="M40 {180 - 7 * y}h432" stroke="#ddd"/><text x="32" y="{184 - 7 * y}" text-anchor="end">{y}</text>'
    for y in range(0, 21, 5)
)
clock = "".join(f'<text x="{40 + 18 * hour}" y="200" text-anchor="middle">{hour}:00</text>' for hour in hours[::6])
with open("/output/temperature.svg", "w") as file:
    file.write(
        '<svg xmlns="http://www.w3.org/2000/svg" width="500" height="212" viewBox="0 0 500 212" font-family="sans-serif" font-size="11">'
        '<rect width="500" height="212" fill="white"/><text x="40" y="18" font-size="13">${plot}</text>'
        f'{grid}{clock}<polyline points="{points}" fill="none" stroke="#c2410c" stroke-width="2.5"/></svg>'
    )
print(f"{min(degrees):.0f} °C – {max(degrees):.0f} °C")
`

const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const startOf = ({ start, head, rows, diagrams, flow }: TourTexts): string => `${start}

${[head, head.map(() => '---'), ...rows].map(tableRow).join('\n')}

${diagrams}

\`\`\`mermaid
flowchart LR
  question[${flow.question}] --> model[${flow.model}]
  model -->|${flow.needs}| tool[${flow.tool}]
  tool --> model
  tool -.->|${flow.risky}| you[${flow.you}]
  you -.-> tool
  model --> answer[${flow.answer}]
\`\`\``

/** One part of the tour: its text and the call that follows. */
interface Part {
  text: string
  calls: readonly DemoCall[]
}

/** What has happened since the tour was asked for: each tool result by the name of its tool, and whether it succeeded. */
type TourResults = ReadonlyMap<string, boolean>

/**
 * The next part of the tour. `tools` are those that this conversation has; `fileName` is that of a file that does not
 * exist.
 */
function tourPart(
  say: TourTexts,
  results: TourResults,
  tools: ReadonlySet<string>,
  fileName: string,
): Part {
  const python = { tool: 'execute_python', arguments: { code: programOf(say) } }
  const file = !tools.has('file_write')
    ? null
    : { tool: 'file_write', arguments: { path: fileName, content: say.file } }
  const written = results.get('file_write')
  if (results.size === 0 && tools.has(python.tool))
    return { text: `${startOf(say)}\n\n${say.program}`, calls: [python] }
  const before = results.size === 0 ? [startOf(say)] : []
  if (results.has(python.tool) && written === undefined)
    before.push(results.get(python.tool) === true ? say.plotted : say.programFailed)
  if (written === undefined && file !== null)
    return { text: [...before, say.change].join('\n\n'), calls: [file] }
  const after = written === undefined ? say.withoutFiles : written ? say.changed : say.rejected
  return { text: [...before, after, say.end].join('\n\n'), calls: [] }
}
