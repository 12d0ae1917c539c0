// A client whose paths, bodies and responses are checked by TypeScript: sends a message and prints tool calls and answer.
// Usage: npm start -- "What is 12 * 34?"    Optional environment: NANOCLAW_URL, NANOCLAW_KEY.
import createClient from 'openapi-fetch'
import type { paths } from './api.ts'

const { NANOCLAW_URL = 'http://127.0.0.1:3000', NANOCLAW_KEY } = process.env
const client = createClient<paths>({
  baseUrl: NANOCLAW_URL,
  headers: NANOCLAW_KEY === undefined ? {} : { authorization: `Bearer ${NANOCLAW_KEY}` },
})

/** Returns the data of a response. @throws Error with the server's message if the request was refused. */
function dataOf<Data>({ data, error }: { data?: { data: Data }; error?: { message: string } }) {
  if (data === undefined) throw new Error(error?.message ?? 'The server sent no response.')
  return data.data
}

const conversation = dataOf(await client.POST('/api/conversations', { body: {} }))
const { message, run } = dataOf(
  await client.POST('/api/conversations/{id}/messages', {
    params: { path: { id: conversation.id } },
    // One JSON response at the end instead of a stream.
    body: { text: process.argv[2] ?? 'What is 12 * 34?', stream: false },
  }),
)
for (const step of message.process_steps ?? [])
  if (step.type === 'tool_call') console.log(`[${step.name} ${step.arguments}]`)
console.log(message.text)
console.log(`(${run.status}, ${run.usage.total_tokens} tokens)`)
