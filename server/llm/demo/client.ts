// The built-in demo model: no network, deterministic answers, and real tool calls for simple requests.
import { setTimeout as sleep } from 'node:timers/promises'
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
  if (results.length > 0) {
    const parts = results.map((result) => `${say.result(result.name)}\n\n${readable(result)}`)
    return { thinking: say.thinkingAfter, text: [...parts, say.signature].join('\n\n'), calls: [] }
  }
  const intendedCalls = readIntents(question)
  const known = new Set(request.tools.map((tool) => tool.function.name))
  const calls = intendedCalls.filter((call) => known.has(call.tool))
  if (calls.length > 0) {
    const names = calls.map((call) => call.tool).join(', ')
    return { thinking: say.thinkingBefore(names), text: say.calling(names), calls }
  }
  const missing = intendedCalls.map((call) => call.tool).join(', ')
  return {
    thinking: say.thinkingPlain,
    text: missing === '' ? say.introduction : say.noTool(missing),
    calls: [],
  }
}

/** Formats a tool result for people: its single value if it has one, otherwise all data. */
function readable(result: Extract<LlmMessage, { role: 'tool' }>): string {
  const parsed = parse(result.content)
  if (parsed.success === false) return `> ${String(parsed.error ?? 'failed')}`
  const data = parsed.data ?? parsed
  if (typeof data !== 'object' || data === null) return `**${String(data)}**`
  const single = ['result', 'area', 'time', 'content'].find((key) => key in data)
  const value: unknown = single === undefined ? undefined : Reflect.get(data, single)
  if (typeof value === 'number') return `**${value}**`
  if (typeof value === 'string') return value.length > 1500 ? `${value.slice(0, 1500)} …` : value
  const text = JSON.stringify(data, null, 2)
  return `\`\`\`json\n${text.length > 3000 ? `${text.slice(0, 3000)} …` : text}\n\`\`\``
}

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

const english = {
  thinkingBefore: (names: string) =>
    `A fixed rule of the demo recognises this request. The tool for it: ${names}.`,
  calling: (names: string) => `I call ${names} to find out.`,
  thinkingAfter: 'The tools have answered. The demo repeats what they found.',
  result: (name: string) => `\`${name}\` says:`,
  signature:
    '*I am the built-in demo, not a language model: I only repeat what the tools answered.*',
  thinkingPlain: 'No fixed rule of the demo fits this message.',
  noTool: (names: string) =>
    `I am the built-in demo, not a language model. For this I would call ${names}, but that tool is not switched on in this round.`,
  introduction: `I am the **built-in demo, not a language model**: I understand nothing and only follow a few fixed rules. What I can show you is the whole loop – thinking, real tool calls, an answer. Try one of these:

- What time is it in Tokyo?
- What is the weather in Berlin?
- 12 * (3 + 4)
- The area of a circle with radius 5
- Fetch https://example.com
- List the files (in a conversation with a project)
- Write a file notes.txt with hello (in a project; you will be asked first)

For real answers add a provider in the settings: any OpenAI-compatible API, or a local Ollama.`,
}

const chinese: typeof english = {
  thinkingBefore: (names) => `演示规则认出了这个请求，对应的工具：${names}。`,
  calling: (names) => `我调用 ${names} 来查询。`,
  thinkingAfter: '工具已经返回结果，演示模型照实转述。',
  result: (name) => `\`${name}\` 的结果：`,
  signature: '*我是内置的演示模型，不是语言模型：我只转述工具的结果。*',
  thinkingPlain: '没有任何演示规则符合这条消息。',
  noTool: (names) =>
    `我是内置的演示模型，不是语言模型。这个请求需要调用 ${names}，但本轮没有启用这个工具。`,
  introduction: `我是**内置的演示模型，不是语言模型**：我什么都不懂，只按几条固定规则办事。我能展示的是完整的过程——思考、真实的工具调用、回答。可以试试：

- 现在几点了？
- 北京今天天气怎么样？
- 12 * (3 + 4)
- 半径为 5 的圆的面积
- 打开 https://example.com
- 列出文件（对话需要属于一个项目）
- 写文件 notes.txt 内容：你好（在项目中，会先征求同意）

想要真正的回答，请在设置里添加模型：任何兼容 OpenAI 的接口，或本机的 Ollama。`,
}
