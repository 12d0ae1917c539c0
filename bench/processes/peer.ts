// The smallest possible chat server, for comparison: Fastify, one insert, one update, each token parsed and written separately, no tools.
import { createInterface } from 'node:readline'
import fastify from 'fastify'
import { Agent, request } from 'undici'
import { z } from 'zod'
import { SqliteClient } from '../../server/lib/sqlite-driver.ts'

const [upstreamPort, file] = z.tuple([z.string(), z.string()]).parse(process.argv.slice(2))
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

const database = new SqliteClient(file)
database.pragma('journal_mode = wal')
// As durable as the product: a commit is on the disk before the first byte of the response.
database.pragma('synchronous = full')
database.exec('create table messages (id integer primary key, question text, answer text)')
const insert = database.prepare<[string]>('insert into messages (question) values (?)')
const update = database.prepare<[string, number | bigint]>(
  'update messages set answer = ? where id = ?',
)

const Body = z.object({ model: z.string(), text: z.string() })
const Chunk = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().optional() }) })),
})

const app = fastify()
app.post('/chat', async (received, reply) => {
  const { model, text } = Body.parse(received.body)
  const { lastInsertRowid } = insert.run(text)
  const { body } = await request(`http://127.0.0.1:${upstreamPort}/v1/chat/completions`, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: text }] }),
  })
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
  let answer = ''
  for await (const line of createInterface({ input: body })) {
    if (!line.startsWith('data: {')) continue
    const delta = Chunk.parse(JSON.parse(line.slice(6))).choices[0]?.delta.content ?? ''
    answer += delta
    if (delta !== '') reply.raw.write(`data: ${JSON.stringify({ delta })}\n\n`)
  }
  update.run(answer, lastInsertRowid)
  reply.raw.end('event: done\ndata: {}\n\n')
})
const address = await app.listen({ host: '127.0.0.1', port: 0, backlog: 4096 })
console.log(JSON.stringify({ port: Number(new URL(address).port) }))
