// A program that connects a messenger: it hands over what people write, and keeps what it is sent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { TestServer } from './server.ts'

const Sent = z.object({
  type: z.enum(['message', 'progress', 'approval', 'settled', 'end']),
  id: z.string(),
  chat_id: z.string().nullable(),
  thread_id: z.string().nullable(),
  text: z.string(),
  files: z.array(z.object({ name: z.string(), mime: z.string(), data: z.string().optional() })),
  approval: z
    .object({
      id: z.string(),
      name: z.string(),
      risk_level: z.string().nullable(),
      preview: z.string(),
      decisions: z.array(z.string()),
    })
    .optional(),
})
type Sent = z.infer<typeof Sent>

export interface TestBridge {
  url: string
  /** Everything that was sent, each once by its id. */
  sent: Sent[]
  /** The texts of messages that a chat received, in order. */
  texts(chatId: string): string[]
  /** Hands over something. */
  give(
    channel: { id: string; token: string },
    body: Record<string, unknown>,
    server: TestServer,
  ): Promise<{ status: number; data: { accepted: boolean; duplicate: boolean; reason?: string } }>
}

/** Starts a bridge for one test. */
export async function startBridge(): Promise<TestBridge> {
  const sent: Sent[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = Sent.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
      // A part may come twice if the server dies before it has stored that it was sent.
      if (
        one.type === 'progress' ||
        one.type === 'settled' ||
        !sent.some(({ id }) => id === one.id)
      )
        sent.push(one)
      response.writeHead(200).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo // never null or a path: the server listens on TCP
  return {
    url: `http://127.0.0.1:${port}/out`,
    sent,
    texts: (chatId) =>
      sent.flatMap((one) => (one.type === 'message' && one.chat_id === chatId ? [one.text] : [])),
    async give({ id, token }, body, to) {
      const { status, json } = await to.call('POST', `/api/channels/${id}/incoming`, {
        body,
        token,
      })
      return { status, data: json.data }
    },
  }
}
