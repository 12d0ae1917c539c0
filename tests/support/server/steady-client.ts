// A client like a reverse proxy: keeps connections open, and sends again where the server closed one of them meanwhile.
import { Agent, request } from 'node:http'
import { z } from 'zod'

export interface Sent {
  status: number
  body: string
}

const Reset = z.object({ code: z.enum(['ECONNRESET', 'EPIPE']) })

/** Creates a client. `post` rejects if the server accepts no connection. */
export function createSteadyClient(): {
  post(url: string, body: object): Promise<Sent>
  close(): void
} {
  const agent = new Agent({ keepAlive: true })
  const post = (url: string, body: object): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const sent = request(
        url,
        { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (piece) => {
            text += piece
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
          response.on('error', reject)
        },
      )
      sent.on('error', (error) => {
        if (sent.reusedSocket && Reset.safeParse(error).success) resolve(post(url, body))
        else reject(error)
      })
      sent.end(JSON.stringify(body))
    })
  return { post, close: () => agent.destroy() }
}
