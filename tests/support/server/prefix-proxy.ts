// A reverse proxy that shows a server below a path of its host, beside something else at the top.
import { createServer, request } from 'node:http'
import { z } from 'zod'

export interface PrefixProxy {
  /** Without the prefix. */
  readonly origin: string
  /** The URL of the server behind it; name it before the first request. */
  target: string
  /** Paths that were requested outside the prefix. */
  readonly strays: string[]
  close(): void
}

/** @param removes whether it removes the prefix from what it passes on. */
export async function startPrefixProxy(prefix: string, removes: boolean): Promise<PrefixProxy> {
  const proxy = { target: '', strays: [] as string[] }
  const server = createServer((incoming, outgoing) => {
    const { url = '/', method, headers } = incoming
    if (url !== prefix && !url.startsWith(`${prefix}/`)) {
      proxy.strays.push(url)
      outgoing.writeHead(200, { 'content-type': 'text/plain' }).end('another program')
      return
    }
    const path = removes ? url.slice(prefix.length) || '/' : url
    const passed = request(`${proxy.target}${path}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = z.object({ port: z.int() }).parse(server.address())
  return Object.assign(proxy, {
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  })
}
