// The built-in demo model: no network, deterministic answers, and real tool calls for simple requests.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallId } from '../../protocol/ids.ts'
import { estimateTokens } from '../../protocol/models/token-estimate.ts'
import { toolNames as chineseTools } from '../../protocol/tool-names/chinese.ts'
import { toolNames as englishTools } from '../../protocol/tool-names/english.ts'
import type { LlmClient, LlmEvent, LlmMessage, LlmRequest, ToolCall } from '../client.ts'
import { abortedFailure } from '../failure.ts'
import { estimatePromptTokens } from '../tokens.ts'
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
  const say = /\p{Script=Han}/u.test(question) ? chinese : english
  const results = request.messages.slice(asked + 1).filter((message) => message.role === 'tool')
  const known = new Set(request.tools.map((tool) => tool.function.name))
  if (asksForTour(question)) {
    const done = new Map(results.map((result) => [result.name, hasSucceeded(result.content)]))
    // The number of messages grows, so a second tour in the conversation writes another file.
    const part = tourPart(question, done, known, `tour-${request.messages.length}.md`)
    return { thinking: say.thinkingTour, ...part }
  }
  if (results.length > 0) {
    const parts = results.map(
      (result) => `${say.result(say.tool(result.name))} ${readable(result)}`,
    )
    return { thinking: say.thinkingAfter, text: [...parts, say.signature].join('\n\n'), calls: [] }
  }
  const intendedCalls = readIntents(question)
  const calls = intendedCalls.filter((call) => known.has(call.tool))
  if (calls.length > 0) {
    const names = calls.map((call) => say.tool(call.tool)).join(', ')
    return { thinking: say.thinkingBefore(names), text: say.calling(names), calls }
  }
  const missing = intendedCalls.map((call) => say.tool(call.tool)).join(', ')
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

const englishNames: ReadonlyMap<string, string> = new Map(Object.entries(englishTools))
const chineseNames: ReadonlyMap<string, string> = new Map(Object.entries(chineseTools))

const english = {
  thinkingBefore: (names: string) =>
    `A fixed rule of the demo recognises this request. The tool for it: ${names}.`,
  thinkingTour: 'The demo knows the tour by heart.',
  tool: (name: string): string => englishNames.get(name) ?? name,
  calling: (names: string) => `One moment: ${names}.`,
  thinkingAfter: 'The tools have answered. The demo repeats what they found.',
  result: (name: string) => `${name}:`,
  signature:
    '*I am the built-in demo, not a language model: I only repeat what the tools answered.*',
  thinkingPlain: 'No fixed rule of the demo fits this message.',
  noTool: (names: string) =>
    `I am the built-in demo, not a language model. For this I would need a tool that is switched off here: ${names}.`,
  introduction: `I am the **built-in demo, not a language model**, and answer only a few prepared questions, with real tools. Ask for **a tour**, or for one of these:

- What time is it in Tokyo?
- 12 * (3 + 4)
- The area of a circle with radius 5
- List the files (in a conversation with a project)
- Write a file notes.txt with hello (in a project; you will be asked first)

For answers to everything else, add a real model: any OpenAI-compatible API, or a local Ollama.`,
}

const chinese: typeof english = {
  thinkingBefore: (names) => `演示规则认出了这个请求，对应的工具：${names}。`,
  thinkingTour: '演示模型对导览了然于心。',
  tool: (name) => chineseNames.get(name) ?? name,
  calling: (names) => `稍等：${names}。`,
  thinkingAfter: '工具已经返回结果，演示模型照实转述。',
  result: (name) => `${name}：`,
  signature: '*我是内置的演示模型，不是语言模型：我只转述工具的结果。*',
  thinkingPlain: '没有任何演示规则符合这条消息。',
  noTool: (names) =>
    `我是内置的演示模型，不是语言模型。这个请求需要的工具在这里没有启用：${names}。`,
  introduction: `我是**内置的演示模型，不是语言模型**，只能用真实的工具回答几个准备好的问题。说“导览”就可以看完整的演示，也可以试试：

- 现在几点了？
- 12 * (3 + 4)
- 半径为 5 的圆的面积
- 列出文件（对话需要属于一个项目）
- 写文件 notes.txt 内容：你好（在项目中，会先征求同意）

想问别的问题，请添加真正的模型：任何兼容 OpenAI 的接口，或本机的 Ollama。`,
}
