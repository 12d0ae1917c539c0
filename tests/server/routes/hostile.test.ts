// Hostile requests against every route: each response is below 500, in the envelope, and the server stays up.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomFrom, SEED } from '../../support/random.ts'
import { createSchemaChecker } from '../../support/server/schema-checker.ts'
import {
  fitting,
  type Operation,
  operationsOf,
  type Reference,
  spoiled,
  withHostileTexts,
} from '../../support/server/schema-requests.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { createStateReader } from '../../support/store/stored-state.ts'

const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
/** What no schema is asked about. */
const UNREADABLE_BODIES = ['null', '0', '"text"', '[]', '{"', '\u0000', deep(100_000)]
const HOSTILE_IDS = [
  'x',
  '..%2f..',
  '%00',
  '%ff',
  "'%20or%201=1--",
  'x'.repeat(3000),
  '%F0%9F%92%A9',
  '__proto__',
  '3f0c2a52-6a4b-4c39-9f0e-0d8a3f1c2b4d',
]
const HOSTILE_QUERIES = [
  '-1',
  '%00',
  '..%2f',
  'x'.repeat(2000),
  '%ED%A0%80',
  '1&limit=2',
  '(a%2B)%2B',
]

/** The stricter one, which refuses more texts, if it is there; the long form asks each. */
const DIALECTS_ASKED = process.env.FAULTS === 'full' ? DIALECTS : DIALECTS.slice(-1)

/** After how many operations it is checked that nothing has changed. */
const OPERATIONS_PER_CHECK = 15

/** These end the session that sends them, whatever the request says. */
const ENDS_SESSION = /^(POST \/api\/auth\/logout|DELETE \/api\/auth\/sessions)$/

/** Whether an error response has the form that the API of its path promises. */
function isErrorBody(path: string, answer: Response, text: string): boolean {
  // A browser that opens a link gets the page, also where the link has ended.
  if (path === '/a/{token}' && answer.headers.get('content-type')?.startsWith('text/html'))
    return true
  const body = JSON.parse(text)
  if (path.startsWith('/v1/'))
    return typeof body.error?.message === 'string' && typeof body.error.type === 'string'
  return (
    body.code === answer.status &&
    typeof body.message === 'string' &&
    /^[a-z_]+$/.test(body.error) &&
    body.request_id === answer.headers.get('x-request-id')
  )
}

describeOnEachServer(
  `hostile requests (SEED=${SEED})`,
  (start) => {
    const config = {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      public_reference: true,
      cors_origins: ['https://chat.example.org'],
    }
    let server: TestServer
    let reference: Reference
    let operations: Operation[]
    let checker: ReturnType<typeof createSchemaChecker>
    let state: Awaited<ReturnType<typeof createStateReader>>
    let ada = ''
    let bob = ''
    /** Ids of Ada's, so that requests get past the lookup too. */
    let present: Record<string, string> = {}
    const random = randomFrom(SEED)

    beforeAll(async () => {
      server = await start({
        ...config,
        log_level: 'warn',
        limits: { registrations_per_hour: 100 },
      })
      ada = await register(server, 'ada')
      bob = await register(server, 'bob')
      reference = JSON.parse(await (await fetch(`${server.url}/openapi.json`)).text())
      operations = operationsOf(reference).filter(({ method, path }) => {
        const isStream = path.endsWith('/events')
        return !isStream && !ENDS_SESSION.test(`${method} ${path}`)
      })
      checker = createSchemaChecker(reference.components)
      for (const { body } of operations) if (body !== undefined) checker.add(body)
      const make = async (path: string, body: object): Promise<string> =>
        (await server.call('POST', path, { body, token: ada })).json.data.id
      const hook = { url: 'https://hooks.example.org/', events: ['run.ended'] }
      present = {
        '/api/conversations': await make('/api/conversations', {}),
        '/api/projects': await make('/api/projects', { name: 'Target' }),
        '/api/admin/groups': await make('/api/admin/groups', { name: 'Target' }),
        '/api/webhooks': await make('/api/webhooks', hook),
        '/api/auth/keys': await make('/api/auth/keys', { name: 'Target' }),
      }
      state = await createStateReader(server.server.config)
    })
    afterAll(async () => {
      await state.close()
      await checker.close()
    })

    interface Attempt {
      operation: Operation
      id: string
      body?: string | undefined
      query?: string
      token?: string
      type?: string
    }
    const urlOf = ({ operation: { path }, id, query = '' }: Attempt): string =>
      server.url + path.replace(/\{[^}]+\}|\*/, id).replaceAll(/\{[^}]+\}|\*/g, 'x') + query
    const presentFor = ({ path }: Operation): string => present[path.split('/{')[0] ?? ''] ?? 'x'

    /** Sends them at once. @returns what is wrong with the responses. */
    async function send(
      attempts: readonly Attempt[],
      isRight: (status: number, attempt: Attempt) => boolean = (status) => status < 500,
    ): Promise<string[]> {
      const found = await Promise.all(
        attempts.map(async (attempt) => {
          const { operation, body, id, query = '', token = ada } = attempt
          const { method, path } = operation
          const response = await fetch(urlOf(attempt), {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              ...(body === undefined ? {} : { 'content-type': attempt.type ?? 'application/json' }),
            },
            ...(body === undefined ? {} : { body }),
            signal: AbortSignal.timeout(20_000),
          })
          const text = await response.text()
          const isShaped = response.status < 400 || isErrorBody(path, response, text)
          return isRight(response.status, attempt) && response.status < 500 && isShaped
            ? []
            : [
                `${method} ${path} ${id.slice(0, 40)}${query.slice(0, 40)} ${body?.slice(0, 300)} → ${response.status} ${text.slice(0, 150)}`,
              ]
        }),
      )
      return found.flat()
    }

    /** A body that does not fit the schema of the operation; undefined if none is found. */
    async function misfit(schema: object, sample: () => unknown): Promise<string | undefined> {
      for (let tries = 0; tries < 12; tries += 1) {
        const text = JSON.stringify(spoiled(sample(), random))
        if ((await checker.check(schema, text)) !== 'fits') return text
      }
      return undefined
    }

    /** What is not there may be deleted: nothing changes. */
    const REFUSED = (status: number, { operation }: Attempt): boolean =>
      status >= 400 || operation.path === '/api/push/subscriptions/{id}'

    test('a request that violates the reference is refused with an API error and changes nothing', async () => {
      expect(operations.length).toBeGreaterThan(150)
      const before = await state.read()
      const wrong: string[] = []
      let misfits = 0
      let unchecked: string[] = []
      for (const operation of operations) {
        const { method, path, body, takesUpload, query } = operation
        const sample = () => fitting(body ?? {}, reference.components, random)
        const id = presentFor(operation)
        const refused: Attempt[] = []
        const reads: Attempt[] = []
        if (body !== undefined)
          for (let count = 0; count < 4; count += 1) {
            const text = await misfit(body, sample)
            if (text === undefined) break
            misfits += 1
            refused.push({ operation, id, body: text })
          }
        if (takesUpload)
          for (const type of [
            'application/json',
            'multipart/form-data',
            'multipart/form-data; boundary=a',
          ])
            refused.push({ operation, id, body: '--a\r\nx', type })
        if (path.includes('{') && !path.startsWith('/api/shared/')) {
          const ids = random.shuffle(HOSTILE_IDS).slice(0, 3)
          const fit = body === undefined ? undefined : JSON.stringify(sample())
          for (const each of ids) refused.push({ operation, id: each, body: fit })
        }
        if (method === 'GET') {
          reads.push({ operation, id })
          for (const name of query)
            reads.push({ operation, id, query: `?${name}=${random.pick(HOSTILE_QUERIES)}` })
        }
        wrong.push(...(await send(refused, REFUSED)), ...(await send(reads)))
        unchecked.push(`${method} ${path}`)
        // All tables are read: after each operation, that would be most of the test's work.
        if (unchecked.length < OPERATIONS_PER_CHECK) continue
        if ((await state.read()) !== before) {
          wrong.push(`one of these changed what is stored: ${unchecked.join(', ')}`)
          break
        }
        unchecked = []
      }
      for (const path of ['/api/conversations', '/v1/chat/completions'])
        for (const operation of operations)
          if (operation.path === path && operation.method === 'POST')
            wrong.push(
              ...(await send(
                UNREADABLE_BODIES.map((body) => ({ operation, id: 'x', body })),
                REFUSED,
              )),
            )
      expect(wrong).toEqual([])
      expect(await state.read()).toBe(before)
      expect(misfits).toBeGreaterThan(150)
    })

    test('ids of another account are refused by every route, and nothing changes', async () => {
      const before = await state.read()
      const attempts = operations
        .filter((operation) => presentFor(operation) !== 'x' && operation.path.includes('{'))
        .map((operation) => ({
          operation,
          id: presentFor(operation),
          token: bob,
          body:
            operation.body === undefined
              ? undefined
              : JSON.stringify(fitting(operation.body, reference.components, random)),
        }))
      expect(attempts.length).toBeGreaterThan(50)
      expect(await send(attempts, REFUSED)).toEqual([])
      expect(await state.read()).toBe(before)
    })

    test('hostile texts cause no server error in any field of any body', async () => {
      const wrong: string[] = []
      for (const operation of operations) {
        const { body } = operation
        // A password that nobody knows would end the test.
        if (body === undefined || operation.path === '/api/auth/profile') continue
        const attempts = Array.from({ length: 2 }, () => {
          const sample = fitting(body, reference.components, random)
          return {
            operation,
            id: presentFor(operation),
            body: JSON.stringify(withHostileTexts(sample, random)),
          }
        })
        wrong.push(...(await send(attempts)))
      }
      expect(wrong).toEqual([])
      expect(server.logged()).not.toContain('"level":50')
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    })

    test('a body over the limit is refused before it is read', async () => {
      const response = await fetch(`${server.url}/api/conversations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${ada}` },
        body: JSON.stringify({ title: 'x'.repeat(11 * 1024 * 1024) }),
      }).catch(() => undefined)
      // The server may close the connection while the client is still writing; then there is no response.
      if (response !== undefined) expect(response.status).toBe(413)
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    })

    test('pages of allowed origins can read responses, and others cannot', async () => {
      const preflight = async (origin: string) => {
        const response = await fetch(`${server.url}/api/conversations`, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'PATCH' },
        })
        return response.headers.get('access-control-allow-origin')
      }
      expect(await preflight('https://chat.example.org')).toBe('https://chat.example.org')
      expect(await preflight(server.url)).toBe(server.url)
      expect(await preflight('https://evil.example')).toBeNull()
    })
  },
  DIALECTS_ASKED,
)
