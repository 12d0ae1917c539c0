// A web site on loopback for tests: serves pages by path and records all requests.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type PageHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
) => void | Promise<void>

export interface WebSite {
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** All requests so far, oldest first. */
  readonly requests: { url: URL; headers: IncomingMessage['headers'] }[]
  /** Handles requests to this path. */
  page(path: string, handler: PageHandler): void
  /** Responds to requests to this path with this content type and body. */
  serve(path: string, type: string, body: string | Uint8Array): void
  close(): Promise<void>
}

export async function startWebSite(): Promise<WebSite> {
  const pages = new Map<string, PageHandler>()
  const requests: WebSite['requests'] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site')
    requests.push({ url, headers: request.headers })
    const handler = pages.get(url.pathname)
    if (handler === undefined) response.writeHead(404).end('not here')
    else void handler(request, response, url)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // the server listens on TCP, not on a pipe
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    requests,
    page: (path, handler) => void pages.set(path, handler),
    serve: (path, type, body) =>
      void pages.set(path, (_request, response) => {
        response.setHeader('content-type', type).end(body)
      }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
