// The `openai` package with NanoClaw: a streamed answer, and a background response that is read later.
// Usage: npm install openai && node examples/openai.mjs "What time is it in Tokyo?"
// Optional environment: NANOCLAW_URL, NANOCLAW_KEY, NANOCLAW_MODEL.
import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: `${process.env.NANOCLAW_URL ?? 'http://127.0.0.1:3000'}/v1`,
  apiKey: process.env.NANOCLAW_KEY ?? 'none',
})
const model = process.env.NANOCLAW_MODEL ?? (await client.models.list()).data[0].id
const question = process.argv[2] ?? 'What is 12 * 34?'

let answer = ''
const stream = await client.chat.completions.create({
  model,
  messages: [{ role: 'user', content: question }],
  stream: true,
})
for await (const chunk of stream) answer += chunk.choices[0]?.delta.content ?? ''
console.log('Chat completion:', answer)

const begun = await client.responses.create({ model, input: question, background: true })
for await (const event of await client.responses.retrieve(begun.id, { stream: true }))
  if (event.type === 'response.mcp_call_arguments.done') console.log('Tool call:', event.arguments)
const { output_text, status } = await client.responses.retrieve(begun.id)
console.log('Response in the background:', status, output_text)
