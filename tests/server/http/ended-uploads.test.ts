// Requests that end in the middle of their body: what they held is free afterwards, and nothing partial remains.
import { mkdtempSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import {
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { uploadFile } from '../../support/server/uploads.ts'

/** As many uploads as a user may send at once. */
const PER_USER = 4
const BOUNDARY = 'the-boundary-of-this-test'
const FIELD = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="name"\r\n\r\na na`
const file = (content: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${content}`
/** What has arrived when the request ends. */
const PHASES = {
  'before the body': '',
  'in a field': FIELD,
  'in a short file': file('short'),
  'in a long file': file('long '.repeat(200_000)),
  'between files': `${file('whole')}\r\n--${BOUNDARY}\r\n`,
} as const
type Phase = keyof typeof PHASES

/** A route that receives one file answers after it. */
const phasesOf = (path: string): readonly Phase[] => [
  'before the body',
  'in a field',
  'in a short file',
  'in a long file',
  ...(path.includes('/projects/') && !path.endsWith('/import') ? (['between files'] as const) : []),
]

/** Another one for each route, where every phase of every route would only take longer. */
const onePhaseOf = (path: string, at: number): readonly Phase[] =>
  phasesOf(path).slice(at % 4, (at % 4) + 1)

interface Sending {
  what: string
  socket: Socket
  /** Settles when the connection is closed, with everything that was received. */
  closed: Promise<string>
  received(): string
}

/** Sends the beginning of a body, and keeps the connection open. */
function send(
  { url }: TestServer,
  token: string,
  path: string,
  {
    type,
    body,
    method = 'POST',
    length = 9_000_000,
  }: { type: string; body: string; method?: string; length?: number },
): Sending {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  const closed = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(received))
  })
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${body}`,
  )
  return { what: `${method} ${path}`, socket, closed, received: () => received }
}

describe('requests that end in the middle of their body', () => {
  const { start } = useServers()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-ended-'))
  let server: TestServer
  let admin = ''
  let users = 0
  beforeAll(async () => {
    const config = {
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      limits: { registrations_per_hour: 1000 },
    }
    server = await start({ folder, config })
    admin = await register(server, 'admin')
  })

  /** Everything that is being received. */
  async function unfinished(): Promise<string[]> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return (
      entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length))
        .filter((path) => /\/(?:staging|incoming|transfers)\/.|\.part$|-gone\//.test(path))
        // The locks of processes stand beside their folders.
        .filter((path) => !path.endsWith('.lock'))
    )
  }

  async function newUser() {
    users += 1
    const name = `user-${users}`
    const token = await register(server, name)
    const call = (method: string, path: string, body?: unknown) =>
      server.call(method, path, { token, body })
    const { json: project } = await call('POST', '/api/projects', { name: 'a project' })
    const { json: profile } = await call('GET', '/api/auth/profile')
    return { name, token, call, projectId: project.data.id, id: profile.data.id }
  }
  type User = Awaited<ReturnType<typeof newUser>>

  /** What the API says of its routes, by path and method. */
  async function describedPaths(): Promise<
    Record<string, Record<string, { summary?: string; requestBody?: object }>>
  > {
    const response = await fetch(`${server.url}/openapi.json`, {
      headers: { authorization: `Bearer ${admin}` },
    })
    const { paths } = JSON.parse(await response.text())
    return paths
  }

  /** The routes that store multipart bodies, from the API's own description. */
  async function uploadRoutes(user: User): Promise<string[]> {
    const paths = await describedPaths()
    return (
      Object.keys(paths)
        .filter((path) => /\(multipart: /.test(paths[path]?.post?.summary ?? ''))
        // Recordings and images for services stay in memory, and are refused at once where no service is configured.
        .filter((path) => !/^\/(?:v1|api\/speech)\//.test(path))
        .map((path) => path.replace('{id}', user.projectId))
    )
  }

  /** Begins as many uploads as the user may send at once, and waits until the server has all of them. */
  async function fill(token: string, path: string, phase: Phase): Promise<Sending[]> {
    const reachesFile = phase.endsWith('file') || phase === 'between files'
    // Only one import is received at a time.
    const most = path === '/api/imports' && reachesFile ? 1 : PER_USER
    const type = `multipart/form-data; boundary=${BOUNDARY}`
    const isRefused = ({ received }: Sending): boolean => received() !== ''
    // One too many, whose refusal shows that the others are in. While places are still being freed, more are refused: all
    // begin again.
    const sent = await eventually(async () => {
      const begun = Array.from({ length: most + 1 }, () =>
        send(server, token, path, { type, body: PHASES[phase] }),
      )
      await eventually(() => expect(begun.some(isRefused)).toBe(true))
      // What was answered before this has arrived after it.
      await server.call('GET', '/healthz')
      if (begun.filter(isRefused).length > 1) {
        for (const { socket } of begun) socket.destroy()
        await Promise.all(begun.map(({ closed }) => closed))
      }
      expect(begun.filter(isRefused)).toHaveLength(1)
      return begun
    })
    if (phase === 'in a long file')
      await eventually(async () => expect(await unfinished()).toHaveLength(most))
    const refused = sent.filter(isRefused)
    for (const { socket, received } of refused) {
      expect(received()).toMatch(/^HTTP\/1.1 4(?:29|09) /)
      socket.destroy()
    }
    return sent.filter((one) => !refused.includes(one))
  }

  /** Ways to end the session of requests. Each gives their credential, and ends it. */
  const endings: Record<
    string,
    (user: User) => Promise<{ token: string; end(sent: Sending[]): Promise<unknown>; status?: 401 }>
  > = {
    async 'a sign-out'(user) {
      const body = { username: user.name, password: 'a good password' }
      const { json } = await server.call('POST', '/api/auth/login', { body })
      const { token } = json.data
      return {
        token,
        end: () => server.call('POST', '/api/auth/logout', { token, body: {} }),
        status: 401,
      }
    },
    async 'a deleted key'(user) {
      const { json } = await user.call('POST', '/api/auth/keys', { name: 'a key' })
      return {
        token: json.data.key,
        end: () => user.call('DELETE', `/api/auth/keys/${json.data.id}`),
        status: 401,
      }
    },
    async 'a disconnected client'(user) {
      return {
        token: user.token,
        end: async (sent) => {
          for (const { socket } of sent) socket.destroy()
        },
      }
    },
  }

  async function assertFree(user: User, what: string): Promise<void> {
    await eventually(async () => expect(await unfinished(), what).toEqual([]))
    // Each of them would be refused if a place were still taken.
    const path = '/api/files'
    const again = await fill(user.token, path, 'before the body')
    for (const { socket } of again) socket.destroy()
    for (const { closed } of again) expect(await closed, what).toBe('')
    // All of them at once: the next uploads must not meet a place that is still being given back.
    await eventually(async () => {
      const uploads = await Promise.all(
        Array.from({ length: PER_USER }, () =>
          uploadFile(server.url, 'c.txt', 'c', { token: user.token }),
        ),
      )
      expect(uploads.map(({ status }) => status)).toEqual(uploads.map(() => 200))
    })
  }

  for (const [ending, begin] of Object.entries(endings))
    test(`after ${ending} in any phase of any upload, all places are free and no partial file remains`, async () => {
      const user = await newUser()
      const routes = await uploadRoutes(user)
      expect(routes).toHaveLength(6)
      for (const [at, path] of routes.entries())
        for (const phase of ending === 'a sign-out' ? phasesOf(path) : onePhaseOf(path, at)) {
          const what = `${path} ${phase}`
          const { token, end, status } = await begin(user)
          const sent = await fill(token, path, phase)
          await end(sent)
          for (const { closed } of sent)
            expect(await closed, what).toMatch(status === undefined ? /^$/ : /^HTTP\/1.1 401 /)
          await assertFree(user, what)
        }
    })

  test('after deleted accounts, the places of all users together are free and no partial file remains', async () => {
    for (const [at, path] of (await uploadRoutes(await newUser())).entries())
      for (const phase of onePhaseOf(path, at)) {
        const user = await newUser()
        const own = path.replace(
          /projects\/[^/]+\/(files|documents)/,
          `projects/${user.projectId}/$1`,
        )
        const sent = await fill(user.token, own, phase)
        const deleted = await server.call('DELETE', `/api/admin/users/${user.id}`, { token: admin })
        expect(deleted.status).toBe(200)
        for (const { closed } of sent) expect(await closed).toMatch(/^HTTP\/1.1 401 /)
      }
    await assertFree(await newUser(), 'after all deletions')
  })

  test('a client whose upload is refused while it sends on receives the reason, and its connection goes on', async () => {
    const { token } = await newUser()
    const path = (name: string) =>
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="files"; filename="${name}"\r\n\r\n`
    const body = `${path('../../out.txt')}x\r\n${path('a.txt')}`
    const type = `multipart/form-data; boundary=${BOUNDARY}`
    const length = 24_000_000
    const sending = send(server, token, '/api/projects/upload', { type, body, length })
    const { socket, closed, received } = sending
    // It reads nothing before it has sent everything, as many clients do.
    socket.pause()
    const pieces = Array<Buffer>(24).fill(Buffer.alloc((length - body.length) / 24, 'x'))
    pieces.push(Buffer.alloc((length - body.length) % 24, 'x'))
    for (const piece of pieces)
      await new Promise<void>((resolve, reject) =>
        socket.write(piece, (error) => (error == null ? resolve() : reject(error))),
      )
    socket.resume()
    await eventually(() => expect(received()).toMatch(/^HTTP\/1.1 4\d\d [\s\S]*path_escapes/))
    socket.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n')
    expect(await closed).toMatch(/HTTP\/1.1 200 /)
  })

  test('an ended session closes the connection of every route with a JSON body that has half arrived', async () => {
    const user = await newUser()
    const paths = await describedPaths()
    const { json: key } = await user.call('POST', '/api/auth/keys', { name: 'a key' })
    const sent: Sending[] = []
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { requestBody }] of Object.entries(methods)) {
        // Links and most routes of `/api/auth` need no session, and those of administrators refuse this one.
        if (requestBody === undefined || /^\/(?:a|api\/auth|api\/admin)\//.test(path)) continue
        const at = path.replaceAll(/\{[^}]+\}/g, user.projectId)
        const options = {
          type: 'application/json',
          body: '{"half":',
          method: method.toUpperCase(),
          length: 1_000,
        }
        sent.push(send(server, key.data.key, at, options))
      }
    // Sent after them, so they have arrived, too.
    await user.call('GET', '/api/auth/profile')
    // Public routes and those for administrators have refused already.
    const open = sent.filter(({ received }) => received() === '')
    expect(open.length).toBeGreaterThan(30)
    await user.call('DELETE', `/api/auth/keys/${key.data.id}`)
    for (const { closed, what } of open) expect(await closed, what).toMatch(/^HTTP\/1.1 401 /)
    for (const { socket } of sent) socket.destroy()
  })
})
