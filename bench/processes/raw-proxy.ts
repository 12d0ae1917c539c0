// The baseline: a proxy that forwards the bytes of the model server without parsing or storing them.
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

const upstreamPort = Number(process.argv[2])
const agent = new Agent({ keepAlive: true, maxSockets: 5_000 })

const server = createServer((request, response) => {
  const onward = httpRequest(
    {
      port: upstreamPort,
      host: '127.0.0.1',
      method: 'POST',
      path: '/v1/chat/completions',
      agent,
      headers: { 'content-type': 'application/json' },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'text/event-stream' })
      response.socket?.setNoDelay(true)
      answer.pipe(response)
    },
  )
  onward.on('error', () => response.destroy())
  response.on('close', () => onward.destroy())
  request.pipe(onward)
})
// Longer than the load client keeps idle connections, as in the other programs: no request must meet a closing connection.
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', 4096, () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
