// The Agents SDK of OpenAI, with both APIs: `NANOCLAW_API` is `responses` (its default) or `chat_completions`.
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'
import { BASE_URL, MODEL, play, readThermometer } from './scenarios.mjs'

setTracingDisabled(true)
const modelProvider = new OpenAIProvider({
  apiKey: 'none',
  baseURL: BASE_URL,
  useResponses: process.env.NANOCLAW_API !== 'chat_completions',
})
const runner = new Runner({ modelProvider, tracingDisabled: true })
const thermometer = tool({
  name: 'thermometer',
  description: 'Reads the thermometer on the wall.',
  parameters: z.object({ room: z.string() }),
  execute: readThermometer,
})
const agent = (more = {}) =>
  new Agent({ name: 'Helper', instructions: 'Help.', model: MODEL, ...more })

await play({
  async text(question) {
    const { finalOutput } = await runner.run(agent(), question)
    return { text: finalOutput }
  },
  async tool(question) {
    const { finalOutput } = await runner.run(agent({ tools: [thermometer] }), question)
    return { text: finalOutput }
  },
  async rounds(question) {
    const first = await runner.run(agent(), question)
    const second = await runner.run(agent(), [
      ...first.history,
      { role: 'user', content: 'And now?' },
    ])
    return { text: second.finalOutput }
  },
  async stream(question) {
    const result = await runner.run(agent({ tools: [thermometer] }), question, { stream: true })
    const pieces = []
    for await (const piece of result.toTextStream()) pieces.push(piece)
    await result.completed
    return { text: result.finalOutput, pieces: pieces.length }
  },
  async cancel(question) {
    const abort = new AbortController()
    // A response that is stored goes on for a while without a listener.
    const unstored = agent({ modelSettings: { store: false } })
    const result = await runner.run(unstored, question, { stream: true, signal: abort.signal })
    for await (const piece of result.toTextStream()) {
      abort.abort()
      return { text: piece }
    }
    return {}
  },
  async object(question) {
    const Person = z.object({ name: z.string(), age: z.number() })
    const { finalOutput } = await runner.run(agent({ outputType: Person }), question)
    return { object: finalOutput }
  },
})
