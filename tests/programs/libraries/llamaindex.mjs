// LlamaIndex with its OpenAI model.
import { OpenAI } from '@llamaindex/openai'
import { tool } from 'llamaindex'
import { z } from 'zod'
import { BASE_URL, MODEL, play, readThermometer } from './scenarios.mjs'

const llm = new OpenAI({
  model: MODEL,
  apiKey: 'none',
  baseURL: BASE_URL,
  supportToolCall: true,
  ...(process.env.NANOCLAW_RETRIES === undefined
    ? {}
    : { maxRetries: Number(process.env.NANOCLAW_RETRIES) }),
})
const thermometer = tool({
  name: 'thermometer',
  description: 'Reads the thermometer on the wall.',
  parameters: z.object({ room: z.string() }),
  execute: readThermometer,
})
const user = (content) => ({ role: 'user', content })

await play({
  async text(question) {
    const { message } = await llm.chat({ messages: [user(question)] })
    return { text: message.content }
  },
  async tool(question) {
    const { newMessages } = await llm.exec({ messages: [user(question)], tools: [thermometer] })
    const again = await llm.chat({
      messages: [user(question), ...newMessages],
      tools: [thermometer],
    })
    return { text: again.message.content }
  },
  async rounds(question) {
    const { message } = await llm.chat({ messages: [user(question)] })
    const second = await llm.chat({ messages: [user(question), message, user('And now?')] })
    return { text: second.message.content }
  },
  async stream(question) {
    let text = ''
    let pieces = 0
    for await (const { delta } of await llm.chat({ messages: [user(question)], stream: true })) {
      text += delta
      pieces += 1
    }
    return { text, pieces }
  },
  async cancel(question) {
    const stream = await llm.chat({ messages: [user(question)], stream: true })
    // Its chat has no signal: a program that has read enough leaves the loop.
    for await (const { delta } of stream) return { text: delta }
    return {}
  },
  async object(question) {
    const Person = z.object({ name: z.string(), age: z.number() })
    const { object } = await llm.exec({ messages: [user(question)], responseFormat: Person })
    return { object }
  },
})
