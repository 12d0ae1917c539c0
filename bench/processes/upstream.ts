// A model server for benchmarks: OpenAI chunks of five bytes of text, as fast as the client reads or at a fixed rate.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * `<mode>-<tokens>`: `single` sends one token per write, `burst` 64 per write, `paced` 30 per second. `tool` asks for the time
 * first, then answers as `paced`.
 */
const MODEL = /^(single|burst|paced|tool)-(\d+)$/
const BURST = 64
const PACE_MS = 1000 / 30

const line = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-0123456789abcdefghij',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'bench-model-0001',
    system_fingerprint: 'fp_0123456789',
    choices: [{ index: 0, ...choice, logprobs: null }],
    ...more,
  })}\n\n`
const token = line({ delta: { content: 'word ' }, finish_reason: null })
const burst = token.repeat(BURST)

async function play(response: ServerResponse, mode: string, tokens: number): Promise<void> {
  response.write(line({ delta: { role: 'assistant', content: '' }, finish_reason: null }))
  if (mode === 'paced' || mode === 'tool') {
    for (let sent = 0; sent < tokens && !response.destroyed; sent += 1) {
      response.write(token)
      await new Promise((resolve) => setTimeout(resolve, PACE_MS))
    }
  } else {
    const closed = once(response, 'close')
    const size = mode === 'burst' ? BURST : 1
    for (let sent = 0; sent < tokens && !response.destroyed; sent += size) {
      const text = size === 1 ? token : tokens - sent >= BURST ? burst : token.repeat(tokens - sent)
      if (!response.write(text)) await Promise.race([once(response, 'drain'), closed])
      else if (sent % 256 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const usage = { prompt_tokens: 10, completion_tokens: tokens, total_tokens: tokens + 10 }
  response.write(line({ delta: {}, finish_reason: 'stop' }, { usage }))
  response.end('data: [DONE]\n\n')
}

/** Asks for one tool call that needs nobody's approval. */
function askForTime(response: ServerResponse): void {
  const call = {
    index: 0,
    id: `call_${randomUUID()}`,
    type: 'function',
    function: { name: 'get_current_time', arguments: '{}' },
  }
  response.write(line({ delta: { role: 'assistant', tool_calls: [call] }, finish_reason: null }))
  response.write(line({ delta: {}, finish_reason: 'tool_calls' }))
  response.end('data: [DONE]\n\n')
}

const server = createServer((request, response) => {
  const body: Buffer[] = []
  request.on('data', (chunk: Buffer) => body.push(chunk))
  request.on('end', () => {
    const text = Buffer.concat(body).toString()
    const model = /"model":"([^"]+)"/.exec(text)?.[1] ?? ''
    const [, mode = 'single', tokens = '100'] = MODEL.exec(model) ?? []
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.socket?.setNoDelay(true)
    // The last message of the request is a tool's result when the call was answered.
    const isAnswered = text.lastIndexOf('"role":"tool"') > text.lastIndexOf('"role":"user"')
    if (mode === 'tool' && !isAnswered) askForTime(response)
    else void play(response, mode, Number(tokens))
  })
})
server.keepAliveTimeout = 60_000
// A port is given when the server takes the place of an earlier one.
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', 4096, () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
