// Instructor: `NANOCLAW_MODE` is one of its modes.
import Instructor from '@instructor-ai/instructor'
import OpenAI from 'openai'
import { z } from 'zod'
import { BASE_URL, MODEL, play } from './scenarios.mjs'

const { NANOCLAW_MODE: mode = 'TOOLS' } = process.env
const client = Instructor({ client: new OpenAI({ baseURL: BASE_URL, apiKey: 'none' }), mode })
const Person = z.object({ name: z.string(), age: z.number() })
const asked = (question) => ({
  model: MODEL,
  messages: [{ role: 'user', content: question }],
  response_model: { schema: Person, name: 'Person' },
})

await play({
  async object(question) {
    const { name, age } = await client.chat.completions.create(asked(question))
    return { object: { name, age } }
  },
  async stream(question) {
    const parts = await client.chat.completions.create({ ...asked(question), stream: true })
    let last = {}
    let pieces = 0
    for await (const part of parts) {
      last = part
      pieces += 1
    }
    return { object: { name: last.name, age: last.age }, pieces }
  },
})
