// TanStack AI with its adapters for OpenAI: `NANOCLAW_API` is `responses` (its default) or `chat_completions`.
import { chat, toolDefinition } from '@tanstack/ai'
import { createOpenaiChat, createOpenaiChatCompletions } from '@tanstack/ai-openai'
import { z } from 'zod'
import { BASE_URL, MODEL, play, readThermometer } from './scenarios.mjs'

const create =
  process.env.NANOCLAW_API === 'chat_completions' ? createOpenaiChatCompletions : createOpenaiChat
const adapter = create(MODEL, 'none', { baseURL: BASE_URL })
const thermometer = toolDefinition({
  name: 'thermometer',
  description: 'Reads the thermometer on the wall.',
  inputSchema: z.object({ room: z.string() }),
}).server(readThermometer)
const user = (content) => ({ role: 'user', content })

/** Adds the texts of a stream up; throws what it reports as an error. */
async function read(stream) {
  let text = ''
  let pieces = 0
  for await (const chunk of stream) {
    if (chunk.type === 'RUN_ERROR')
      throw Object.assign(new Error(chunk.message), { code: chunk.code })
    if (chunk.type !== 'TEXT_MESSAGE_CONTENT') continue
    text += chunk.delta
    pieces += 1
  }
  return { text, pieces }
}

await play({
  async text(question) {
    return { text: await chat({ adapter, messages: [user(question)], stream: false }) }
  },
  tool: (question) => read(chat({ adapter, messages: [user(question)], tools: [thermometer] })),
  async rounds(question) {
    const content = await chat({ adapter, messages: [user(question)], stream: false })
    const messages = [user(question), { role: 'assistant', content }, user('And now?')]
    return { text: await chat({ adapter, messages, stream: false }) }
  },
  stream: (question) => read(chat({ adapter, messages: [user(question)] })),
  async cancel(question) {
    const abortController = new AbortController()
    // A response that is stored goes on for a while without a listener.
    const modelOptions = { store: false }
    for await (const chunk of chat({
      adapter,
      messages: [user(question)],
      modelOptions,
      abortController,
    }))
      if (chunk.type === 'TEXT_MESSAGE_CONTENT') {
        abortController.abort()
        return { text: chunk.delta }
      }
    return {}
  },
  async object(question) {
    const outputSchema = z.object({ name: z.string(), age: z.number() })
    return { object: await chat({ adapter, messages: [user(question)], outputSchema }) }
  },
})
