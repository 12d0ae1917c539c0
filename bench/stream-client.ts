// The load client: sends one streamed request and measures its bytes and the timing of its events.
import { Agent, request as httpRequest } from 'node:http'

/**
 * Idle connections are closed before any server does it (Node's default is 5 s). Otherwise a request can meet a connection
 * that is just being closed ("socket hang up"), which would look like a fault of the server.
 */
const IDLE_MS = 2_000
const agent = new Agent({ keepAlive: true, maxSockets: 5_000, timeout: IDLE_MS })

export interface StreamResult {
  /** Milliseconds from sending to the first text of the answer. */
  firstTokenMs: number
  totalMs: number
  bytes: number
  /** Milliseconds between events with text, from `gapsFrom` on. */
  gaps: number[]
  complete: boolean
}

export interface StreamTarget {
  port: number
  path: string
  body: unknown
  /** Substrings that mark text of the answer, and its end. */
  textMark: string
  endMark: string
  /** Records gaps from this moment on (`performance.now`). */
  gapsFrom?: number
}

export function stream(target: StreamTarget): Promise<StreamResult> {
  const body = JSON.stringify(target.body)
  const startedAt = performance.now()
  const result: StreamResult = {
    firstTokenMs: Number.NaN,
    totalMs: 0,
    bytes: 0,
    gaps: [],
    complete: false,
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: target.port,
        path: target.path,
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        let tail = ''
        let lastText = 0
        response.on('data', (chunk: Buffer) => {
          result.bytes += chunk.length
          const text = tail + chunk.toString('latin1')
          const now = performance.now()
          if (text.includes(target.textMark)) {
            if (Number.isNaN(result.firstTokenMs)) result.firstTokenMs = now - startedAt
            else if (target.gapsFrom !== undefined && lastText >= target.gapsFrom)
              result.gaps.push(now - lastText)
            lastText = now
          }
          if (text.includes(target.endMark)) result.complete = true
          tail = text.slice(-40)
        })
        response.on('end', () => {
          result.totalMs = performance.now() - startedAt
          if (response.statusCode !== 200)
            reject(new Error(`status ${response.statusCode}: ${tail}`))
          else resolve(result)
        })
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
