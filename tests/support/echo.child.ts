// A worker thread for tests: echoes, loops forever or crashes, as requested.
import { threadId } from 'node:worker_threads'
import { serveRequests } from '../../server/lib/worker-server.ts'

export type EchoRequest = { kind: 'echo'; text: string } | { kind: 'loop' } | { kind: 'crash' }

serveRequests((request: EchoRequest) => {
  if (request.kind === 'crash') throw new Error('crashed on request')
  if (request.kind === 'loop') for (;;);
  return { text: request.text, threadId }
})
