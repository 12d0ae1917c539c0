// Random requests to every route, generated from the OpenAPI document: none causes an undocumented 5xx, a crash, a hang or a leak.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { randomFrom, SEED } from '../support/random.ts'
import { type HeldResources, heldResources } from '../support/server/held-resources.ts'
import { databaseKeys } from '../support/server/server.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'

const isFull = process.env.FAULTS === 'full'
/** The long form compares what the server holds after each round, once caches and worker threads are warm. */
const ROUNDS = isFull ? 10 : 1
const WARM_ROUNDS = 3
const REQUESTS_OF_ROUND = isFull ? 1_000 : 150
const REQUESTS = ROUNDS * REQUESTS_OF_ROUND
/** Megabytes that are held more after a round, on average. */
const MEMORY_GROWTH_OF_ROUND = 2
const AT_ONCE = 8
const { share, below, pick } = randomFrom(SEED)

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}
interface Route {
  method: string
  path: string
  body: Schema | undefined
}

const strange: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1e308, -0.5, 2 ** 53, ''],
  ...[
    'text',
    '\u0000',
    '\ud800',
    '🦀'.repeat(50),
    'x'.repeat(70_000),
    '../../etc/passwd',
    '(',
    '%',
  ],
  ...['http://127.0.0.1:9/', 'file:///etc/passwd', '__proto__', '2026-02-30', "' or 1=1 --"],
  ...[[], {}, [[[[]]]], { constructor: { prototype: 1 } }, [null], Array(200).fill('a')],
]

const placeholders: readonly string[] = [
  'x',
  '..%2f..',
  '%00',
  '%ff',
  'x'.repeat(3_000),
  '%F0%9F%92%A9',
]
const queries: readonly string[] = [
  ...['', '', '', '?limit=2', '?limit=-1', '?cursor=%00', '?q=%22(%20*', '?path=..%2f', '?raw=1'],
  ...[
    '?period=daily',
    '?period=x',
    '?stream_mode=delta',
    '?limit=1&limit=2',
    `?q=${'x'.repeat(5_000)}`,
  ],
]

/** Allowed statuses from 500 up: documented failures outside the server, such as of a provider or the disk. */
const documented = new Set([502, 503, 504, 507])

describe.each(DIALECTS)('random requests on %s', (dialect) => {
  const databases = useDatabases()
  let folder: string
  let place: ServerPlace
  let server: ServerProcess
  let routes: Route[] = []
  let components: Record<string, Schema> = {}
  /** Ids of existing objects. */
  const present: string[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-fuzz-'))
    place = await serverPlace(
      folder,
      {
        ...databaseKeys(await databases.settings(dialect)),
        log_level: 'warn',
        limits: { runs_per_user: 1_000 },
      },
      [
        '--expose-gc',
        '--import',
        new URL('../support/collect-on-signal.mjs', import.meta.url).href,
        join(inject('serverBuild'), 'main.js'),
      ],
    )
    server = await place.start()
    // Not validated: the server generates the document, in the OpenAPI format.
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      paths: Record<
        string,
        Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>
      >
      components?: { schemas?: Record<string, Schema> }
    }
    components = document.components?.schemas ?? {}
    routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        body: operation.requestBody?.content['application/json']?.schema,
      })),
    )
    for (const path of ['/api/conversations', '/api/projects'])
      for (let n = 0; n < 3; n += 1) {
        const created = await fetch(server.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: `There ${n}` }),
        })
        const { data } = (await created.json()) as { data: { id: string } }
        present.push(data.id)
      }
  })
  afterAll(async () => {
    await place.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Mostly a value that matches the schema, so that requests pass validation; sometimes an arbitrary one. */
  function makeValue(schema: Schema | undefined, depth = 0): unknown {
    if (schema === undefined || depth > 6 || share() < 0.15) return pick(strange)
    if (schema.$ref !== undefined)
      return makeValue(components[schema.$ref.split('/').at(-1) ?? ''], depth + 1)
    if (schema.enum !== undefined) return pick(schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices !== undefined) return makeValue(pick(choices), depth + 1)
    switch (Array.isArray(schema.type) ? pick(schema.type) : schema.type) {
      case 'string':
        return pick(['text', 'demo', 'a.txt', 'a/b/c.md', ...present])
      case 'integer':
      case 'number':
        return pick([0, 1, 2, 10, 0.5])
      case 'boolean':
        return share() < 0.5
      case 'array':
        return Array.from({ length: below(4) }, () => makeValue(schema.items, depth + 1))
      case 'object':
        return Object.fromEntries(
          Object.entries(schema.properties ?? {})
            .filter(() => share() < 0.7)
            .map(([name, inner]) => [name, makeValue(inner, depth + 1)]),
        )
      default:
        return pick(strange)
    }
  }

  function makeRequest(): { url: string; init: RequestInit } {
    const { method, path, body } = pick(routes)
    const id = (): string => (share() < 0.6 ? pick(present) : pick(placeholders))
    const url = server.url + path.replaceAll(/\{[^}]+\}|\*/g, id) + pick(queries)
    const mayHaveBody = method !== 'GET' && method !== 'HEAD' && share() < 0.95
    if (!mayHaveBody) return { url, init: { method } }
    const text = JSON.stringify(makeValue(body)) ?? ''
    const cut = share() < 0.05 ? text.slice(0, below(text.length)) : text
    const type =
      share() < 0.95 ? 'application/json' : pick(['text/plain', 'multipart/form-data', ''])
    return { url, init: { method, body: cut, headers: { 'content-type': type } } }
  }

  /** Sends the requests of a round. @returns what is wrong with the responses. */
  async function sendRound(): Promise<string[]> {
    const wrong: string[] = []
    let left = REQUESTS_OF_ROUND
    async function work(): Promise<void> {
      while (left > 0) {
        left -= 1
        const { url, init } = makeRequest()
        const controller = new AbortController()
        const response = await fetch(url, { ...init, signal: controller.signal }).catch(
          (error: unknown) => String(error),
        )
        if (typeof response === 'string') {
          wrong.push(`${init.method} ${url.slice(0, 200)}: ${response}`)
          continue
        }
        const isStream =
          response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
        // Abandoning a stream halfway is part of the test.
        if (isStream) controller.abort()
        const text = isStream ? '' : await response.text()
        if (response.status >= 500 && !documented.has(response.status))
          wrong.push(
            `${init.method} ${url.slice(0, 200)} ${String(init.body).slice(0, 300)} → ${response.status} ${text.slice(0, 200)}`,
          )
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return wrong
  }

  /** Ends the runs that the requests began, and waits until nothing of them is left. */
  async function settle(): Promise<HeldResources> {
    const runs = JSON.parse(await (await fetch(`${server.url}/api/admin/runs`)).text())
    for (const { id } of runs.data.items)
      await fetch(`${server.url}/api/admin/runs/${id}/stop`, { method: 'POST' })
    await expect
      .poll(() => heldResources(server, folder))
      .toMatchObject({
        halfClosed: 0,
        activeRuns: 0,
        listeners: 0,
        unfinishedRuns: 0,
        unfinishedFiles: [],
      })
    const read = async (): Promise<HeldResources> => {
      process.kill(server.pid, 'SIGUSR2')
      return heldResources(server, folder)
    }
    const reads = [await read(), await read(), await read()]
    // A reading may come before the garbage collection that it requested, so the lowest of three counts.
    const memory = Math.min(...reads.map((one) => one.memory))
    return { ...(reads[2] ?? (await read())), memory }
  }

  test(`${REQUESTS} random requests cause no server error and leave nothing behind (SEED=${SEED})`, {
    timeout: 3_600_000,
  }, async () => {
    expect(routes.length).toBeGreaterThan(40)
    const held: HeldResources[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      expect(await sendRound()).toEqual([])
      held.push(await settle())
    }
    // The client keeps some connections for further requests.
    for (const { connections } of held) expect(connections).toBeLessThanOrEqual(2 * AT_ONCE)
    const [warm, ...later] = held.slice(WARM_ROUNDS - 1)
    if (warm !== undefined) {
      if (process.env.PRINT_HELD !== undefined) console.table(held)
      for (const { descriptors, timers, children } of later) {
        expect(descriptors).toBeLessThanOrEqual(warm.descriptors + 2 * AT_ONCE)
        expect(timers).toBeLessThanOrEqual(warm.timers + AT_ONCE)
        expect(children).toBeLessThanOrEqual(warm.children + 2)
      }
      expect(slopeOf(held.slice(WARM_ROUNDS - 1).map(({ memory }) => memory))).toBeLessThan(
        MEMORY_GROWTH_OF_ROUND,
      )
    }
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect(server.logged()).not.toMatch(/unhandled rejection|uncaught exception/)
    await server.kill('SIGTERM')
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })
})

/** How much the values grow from one to the next, by least squares. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const weights = values.map((_value, at) => at - middle)
  const above = values.reduce((sum, value, at) => sum + (value - mean) * (weights[at] ?? 0), 0)
  return above / weights.reduce((sum, weight) => sum + weight * weight, 0)
}
