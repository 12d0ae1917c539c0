// A command-line chat in JavaScript without dependencies: prints the answer as it streams in, and the tool calls.
// Usage: node examples/chat.mjs "What is 12 * 34?"    Optional environment: NANOCLAW_URL, NANOCLAW_KEY.
const url = process.env.NANOCLAW_URL ?? 'http://127.0.0.1:3000'
const headers = {
  'content-type': 'application/json',
  ...(process.env.NANOCLAW_KEY ? { authorization: `Bearer ${process.env.NANOCLAW_KEY}` } : {}),
}

async function post(path, body) {
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error((await response.json()).message)
  return response
}

/** Parses the server-sent events of a response: blocks of lines, separated by empty lines. */
async function* events(response) {
  let buffer = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk
    const blocks = buffer.split('\n\n')
    buffer = blocks.pop()
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (event && data) yield { event, data: JSON.parse(data) }
    }
  }
}

const conversation = (await (await post('/api/conversations', {})).json()).data
const stream = await post(`/api/conversations/${conversation.id}/messages`, {
  text: process.argv[2] ?? 'What is 12 * 34?',
  stream_mode: 'delta',
})
for await (const { event, data } of events(stream)) {
  if (event === 'step_delta' && data.type === 'text') process.stdout.write(data.delta)
  if (event === 'process_step' && data.type === 'tool_call')
    console.log(`\n[${data.name} ${data.arguments}]`)
  if (event === 'error') throw new Error(data.content)
  if (event === 'done') console.log(`\n(${data.usage.total_tokens} tokens)`)
}
