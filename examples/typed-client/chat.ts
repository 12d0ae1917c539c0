// A client whose paths, bodies and responses are checked by TypeScript: sends a message and prints tool calls and answer.
// Usage: npm start -- "What is 12 * 34?"    Optional environment: NANOCLAW_URL, NANOCLAW_KEY.
import createClient from 'openapi-fetch'
import type { paths } from './api.ts'

const { NANOCLAW_URL = 'http://127.0.0.1:3000', NANOCLAW_KEY } = process.env
/** A server that restarts refuses requests with 503, without any effect, and says when to send them again. */
async function patientFetch(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(request.clone())
    const seconds = Number(response.headers.get('retry-after'))
    if (response.status !== 503 || seconds === 0 || attempt === 5) return response
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}

const client = createClient<paths>({
  baseUrl: NANOCLAW_URL,
  fetch: patientFetch,
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
