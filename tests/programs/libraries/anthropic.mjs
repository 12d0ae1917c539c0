// The SDK of Anthropic with `/v1/messages`.
import Anthropic from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { z } from 'zod'
import { MODEL, play, readThermometer } from './scenarios.mjs'

const client = new Anthropic({ baseURL: process.env.NANOCLAW_URL, apiKey: 'none' })
const asked = (messages, more = {}) => ({ model: MODEL, max_tokens: 500, messages, ...more })
const user = (content) => ({ role: 'user', content })
const textOf = ({ content }) =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
const tools = [
  {
    name: 'thermometer',
    description: 'Reads the thermometer on the wall.',
    input_schema: { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] },
  },
]

await play({
  async text(question) {
    return { text: textOf(await client.messages.create(asked([user(question)]))) }
  },
  async tool(question) {
    const first = await client.messages.create(asked([user(question)], { tools }))
    const { id, input } = first.content.find(({ type }) => type === 'tool_use')
    const result = { type: 'tool_result', tool_use_id: id, content: readThermometer(input) }
    const messages = [user(question), { role: 'assistant', content: first.content }, user([result])]
    return { text: textOf(await client.messages.create(asked(messages, { tools }))) }
  },
  async rounds(question) {
    const first = await client.messages.create(asked([user(question)]))
    const messages = [
      user(question),
      { role: 'assistant', content: first.content },
      user('And now?'),
    ]
    return { text: textOf(await client.messages.create(asked(messages))) }
  },
  async stream(question) {
    const stream = client.messages.stream(asked([user(question)]))
    let pieces = 0
    stream.on('text', () => {
      pieces += 1
    })
    return { text: await stream.finalText(), pieces }
  },
  async cancel(question) {
    const stream = client.messages.stream(asked([user(question)]))
    for await (const event of stream)
      if (event.type === 'content_block_delta') {
        stream.abort()
        return { text: event.delta.text }
      }
    return {}
  },
  async object(question) {
    const Person = z.object({ name: z.string(), age: z.number() })
    const { parsed_output } = await client.messages.parse(
      asked([user(question)], { output_config: { format: zodOutputFormat(Person) } }),
    )
    return { object: parsed_output }
  },
})
