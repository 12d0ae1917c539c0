// Apps over HTTP: who gets an address, what is reachable below it with which headers, and when it ends.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { databaseSettings } from '../../../../server/config/settings.ts'
import { connect } from '../../../../server/db/connect.ts'
import { createStore } from '../../../../server/db/store.ts'
import { ProjectId } from '../../../../server/protocol/ids.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../../support/server/server.ts'

const useApps = useServers()
const upstream = await useUpstream()
const quiet = { log: { info() {}, warn() {} } }
const MULTI = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }

/** Opens the port of apps on a server. */
async function withApps(server: TestServer): Promise<TestServer> {
  await server.server.appsServer?.listen({ host: '127.0.0.1', port: 0 })
  return server
}

interface Reached {
  status: number | undefined
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** A request to the origin of apps; `localhost` may be another address than the one that it listens on. */
const reach = (
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reached> =>
  new Promise((resolve, reject) => {
    const { port, pathname, search } = new URL(url)
    request({ host: '127.0.0.1', port, path: pathname + search, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.once('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, text }),
      )
    })
      .on('error', reject)
      .end()
  })

async function newProject(server: TestServer, token?: string): Promise<string> {
  const { json } = await server.call('POST', '/api/projects', { token, body: { name: 'Apps' } })
  return json.data.id
}

async function write(
  server: TestServer,
  project: string,
  files: Record<string, string>,
  token?: string,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const body = { content }
    const { status } = await server.call('PUT', `/api/projects/${project}/files/${path}`, {
      token,
      body,
    })
    expect([path, status]).toEqual([path, 200])
  }
}

/** Marks contents as text from outside, as a tainted run that writes them does. */
async function mark(server: TestServer, project: string, contents: string[]): Promise<void> {
  const database = await connect(databaseSettings(server.server.config), quiet)
  try {
    const hashes = contents.map((content) => createHash('sha256').update(content).digest('hex'))
    await createStore(database).outsideContents.add(ProjectId.parse(project), hashes)
  } finally {
    await database.close()
  }
}

async function open(server: TestServer, project: string, path: string, token?: string) {
  const body = { project_id: project, path }
  return (await server.call('POST', '/api/apps', { token, body })).json.data
}

describeOnEachServer('an app', (start) => {
  test('is served at an address of another origin, as a sandboxed document that reaches nothing and that only its page may frame', async () => {
    const server = await withApps(await start())
    const project = await newProject(server)
    await write(server, project, {
      'tool/index.html': '<!-- ours --><!doctype html><title>Sum</title>',
      'tool/sum.js': 'export const sum = 1',
      'tool/.secret': 'x',
      'other.html': 'another app',
    })
    const app = await open(server, project, 'tool/index.html')
    const page = new URL(server.url)
    const origin = new URL(app.url).origin
    expect(app).toMatchObject({ kind: 'html', network: false, tainted: false })
    expect(app.url).toMatch(/^http:\/\/localhost:\d+\/v\/[\w-]{43}\/tool\/index\.html$/)
    expect(origin).not.toBe(page.origin)

    const answer = await reach(app.url, { headers: { host: new URL(app.url).host } })
    expect(answer.status).toBe(200)
    // The type of the document stays in front, so that the app is not drawn as pages of last century.
    expect(answer.text).toMatch(/^<!-- ours --><!doctype html><script>[\s\S]+<\/script><title>/)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        'sandbox allow-scripts allow-forms allow-pointer-lock',
        "default-src 'none'",
        `script-src 'unsafe-inline' 'unsafe-eval' ${origin}`,
        `style-src 'unsafe-inline' ${origin}`,
        `img-src data: blob: ${origin}`,
        `font-src data: ${origin}`,
        `media-src data: blob: ${origin}`,
        "connect-src 'none'",
        "frame-src 'none'",
        "form-action 'none'",
        "base-uri 'none'",
        `frame-ancestors ${page.origin}`,
      ].join('; '),
      'connection-allowlist': '(response-origin)',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'x-dns-prefetch-control': 'off',
      'cache-control': 'no-store',
    })
    expect(answer.headers['set-cookie']).toBeUndefined()

    const root = app.url.replace('tool/index.html', '')
    expect(await reach(`${root}tool/sum.js`)).toMatchObject({
      status: 200,
      text: 'export const sum = 1',
      headers: { 'content-type': 'text/javascript; charset=utf-8' },
    })
    for (const path of [
      ...['other.html', 'tool/.secret', 'tool/missing.js', 'tool/', 'tool', ''],
      ...['tool/..%2fother.html', 'tool/%2e%2e/other.html', '%2fetc/passwd', 'tool%5csum.js'],
      'tool/sum.js%00',
    ]) {
      const refused = await reach(root + path)
      expect([path, refused.status]).toEqual([path, 404])
      expect(refused.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    }
  })

  test('answers only GET and HEAD, installs no service worker, ignores credentials, and every other path of its origin is 404', async () => {
    const server = await withApps(await start())
    const project = await newProject(server)
    await write(server, project, { 'a.html': 'an app', 'worker.js': '' })
    const { url } = await open(server, project, 'a.html')
    const root = url.replace('a.html', '')
    const { origin } = new URL(url)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const refused = await reach(url, { method, headers: { 'content-type': 'application/json' } })
      expect([method, refused.status, refused.headers.allow]).toEqual([method, 405, 'GET, HEAD'])
    }
    expect((await reach(url, { method: 'HEAD' })).status).toBe(200)
    const worker = { 'service-worker': 'script' }
    expect((await reach(`${root}worker.js`, { headers: worker })).status).toBe(403)
    // As the page of a tab it could leave for any other address.
    const tab = { 'sec-fetch-dest': 'document' }
    expect(await reach(url, { headers: tab })).toMatchObject({ status: 404, text: 'Not found\n' })
    expect((await reach(url, { headers: { 'sec-fetch-dest': 'iframe' } })).status).toBe(200)
    const credentials = { authorization: 'Bearer nc-nobody', cookie: 'nc-session=x' }
    expect((await reach(url, { headers: credentials })).status).toBe(200)
    for (const path of [
      '/',
      '/api/auth/mode',
      '/v1/models',
      '/healthz',
      '/index.html',
      '/v/',
      '/metrics',
    ])
      expect([path, (await reach(origin + path)).status]).toEqual([path, 404])
    const unknown = await reach(`${origin}/v/${'A'.repeat(43)}/a.html`)
    expect(unknown).toMatchObject({ status: 404, text: 'Not found\n' })
  })

  test('belongs to its user, and its address ends with the session, the project and the account', async () => {
    const server = await withApps(await start(MULTI))
    const [ada, bob] = [await register(server, 'ada'), await register(server, 'bob')]
    const project = await newProject(server, ada)
    await write(server, project, { 'a.html': 'an app' }, ada)
    const foreign = await server.call('POST', '/api/apps', {
      token: bob,
      body: { project_id: project, path: 'a.html' },
    })
    expect(foreign.status).toBe(404)
    const { id, url } = await open(server, project, 'a.html', ada)
    const denied = await server.call('PATCH', `/api/apps/${id}`, {
      token: bob,
      body: { network: true },
    })
    expect(denied.status).toBe(404)

    const login = await server.call('POST', '/api/auth/login', {
      body: { username: 'ada', password: 'a good password' },
    })
    const second = await open(server, project, 'a.html', login.json.data.token)
    expect((await reach(second.url)).status).toBe(200)
    await server.call('POST', '/api/auth/logout', { token: login.json.data.token, body: {} })
    expect((await reach(second.url)).status).toBe(404)

    expect((await reach(url)).status).toBe(200)
    await server.call('DELETE', `/api/projects/${project}`, { token: ada })
    expect((await reach(url)).status).toBe(404)
  })

  test('may use the network once its user has allowed it, until a file that it loads gets text from outside', async () => {
    const server = await withApps(await start())
    const project = await newProject(server)
    await write(server, project, { 'a.html': 'an app', 'data.js': 'first' })
    const { id, url } = await open(server, project, 'a.html')
    const allowed = await server.call('PATCH', `/api/apps/${id}`, { body: { network: true } })
    expect(allowed.json.data).toMatchObject({ network: true, tainted: false })
    const policyOf = async (address = url) =>
      String((await reach(address)).headers['content-security-policy'])
        .split('; ')
        .filter((line) => / https:$/.test(line))
        .map((line) => line.split(' ')[0])
    expect(await policyOf()).toEqual(['img-src', 'font-src', 'media-src', 'connect-src'])
    expect((await reach(url)).headers['connection-allowlist']).toBeUndefined()
    // What the user changes stays theirs.
    await write(server, project, { 'a.html': 'a better app', 'data.js': 'second' })
    expect(await open(server, project, 'a.html')).toMatchObject({ network: true })

    await mark(server, project, ['what a page has said', 'and more of it'])
    const file = (name: string) => url.replace('a.html', name)
    await write(server, project, { 'data.js': 'what a page has said', 'more.js': 'and more of it' })
    // A document that was loaded before has the network still: nothing more reaches it.
    for (const path of ['data.js', 'more.js', 'a.html'])
      expect([path, (await reach(file(path))).status]).toEqual([path, 404])
    const entries = await server.call('GET', '/api/admin/audit?action=app_network_ended')
    expect(entries.json.data.items).toMatchObject([
      { details: { by: 'server', project_id: project, path: 'a.html' } },
    ])

    const again = await open(server, project, 'a.html')
    expect(again).toMatchObject({ network: false, tainted: true })
    expect(await policyOf(again.url)).toEqual([])
    expect((await reach(again.url.replace('a.html', 'data.js'))).status).toBe(200)
    // Allowed with what is there now, until its user ends it.
    await server.call('PATCH', `/api/apps/${again.id}`, { body: { network: true } })
    expect((await policyOf(again.url)).length).toBe(4)
    expect((await reach(again.url.replace('a.html', 'more.js'))).status).toBe(200)
    await server.call('PATCH', `/api/apps/${again.id}`, { body: { network: false } })
    expect((await reach(again.url.replace('a.html', 'data.js'))).status).toBe(404)
  })

  test('does not come with the network when a file of its folder has got text from outside', async () => {
    const server = await withApps(await start())
    const project = await newProject(server)
    await write(server, project, { 'a.html': 'an app', 'data.js': 'first' })
    const { id, url } = await open(server, project, 'a.html')
    await server.call('PATCH', `/api/apps/${id}`, { body: { network: true } })
    await mark(server, project, ['what a page has said'])
    await write(server, project, { 'data.js': 'what a page has said' })
    expect((await reach(url)).status).toBe(404)
    expect(await open(server, project, 'a.html')).toMatchObject({ network: false })
  })

  test('loses its permission and its addresses with its file, so that a later file of the name asks again', async () => {
    const server = await withApps(await start())
    const project = await newProject(server)
    const files = `/api/projects/${project}/files`
    for (const end of ['deleted', 'moved']) {
      await write(server, project, { 'tool/a.html': 'an app' })
      const { id, url } = await open(server, project, 'tool/a.html')
      await server.call('PATCH', `/api/apps/${id}`, { body: { network: true } })
      expect(await open(server, project, 'tool/a.html')).toMatchObject({ network: true })
      const { status } =
        end === 'deleted'
          ? await server.call('DELETE', `${files}/tool/a.html`)
          : await server.call('PATCH', `${files}/tool`, { body: { new_path: `away-${end}` } })
      expect([end, status]).toEqual([end, 200])
      await write(server, project, { 'tool/a.html': 'another app' })
      expect([end, (await reach(url)).status]).toEqual([end, 404])
      expect(await open(server, project, 'tool/a.html')).toMatchObject({ network: false })
    }
  })

  test('ends with its account, its session and its API key, also when these only expire or are disabled', async () => {
    const server = await withApps(await start(MULTI))
    const [ada, bob] = [await register(server, 'ada'), await register(server, 'bob')]
    const project = await newProject(server, bob)
    await write(server, project, { 'a.html': 'an app' }, bob)
    const { key } = (
      await server.call('POST', '/api/auth/keys', { token: bob, body: { name: 'a key' } })
    ).json.data
    const byKey = await open(server, project, 'a.html', key)
    const bySession = await open(server, project, 'a.html', bob)
    expect((await reach(byKey.url)).status).toBe(200)
    const database = await connect(databaseSettings(server.server.config), quiet)
    try {
      const expiresAt = new Date(0)
      await database.write(async (tx) => {
        await tx.update(database.tables.apiKeys).set({ expiresAt })
      })
      expect((await reach(byKey.url)).status).toBe(404)
      expect((await reach(bySession.url)).status).toBe(200)
      await database.write(async (tx) => {
        await tx.update(database.tables.apiKeys).set({ expiresAt: null })
      })
    } finally {
      await database.close()
    }
    expect((await reach(byKey.url)).status).toBe(200)
    const { id } = (await server.call('GET', '/api/auth/profile', { token: bob })).json.data
    await server.call('PATCH', `/api/admin/users/${id}`, {
      token: ada,
      body: { is_active: false },
    })
    for (const { url } of [byKey, bySession]) expect((await reach(url)).status).toBe(404)
  })

  test('opens as it was before a change, and only kinds of files that can run', async () => {
    const server = await withApps(await start())
    const project = await newProject(server)
    await write(server, project, { 'a.html': 'first', 'b.html': 'beside', 'c.txt': 'a text' })
    await write(server, project, { 'a.html': 'second' })
    const { json } = await server.call('GET', `/api/projects/${project}/checkpoints?limit=1`)
    const checkpoint = json.data.items[0].id
    const opening = (path: string, more: object = {}) =>
      server.call('POST', '/api/apps', { body: { project_id: project, path, ...more } })
    const earlier = await opening('a.html', { checkpoint_id: checkpoint })
    expect((await reach(earlier.json.data.url)).text).toMatch(/first$/)
    const { url } = await open(server, project, 'a.html')
    expect((await reach(url)).text).toMatch(/second$/)
    const { id } = earlier.json.data
    const permitted = await server.call('PATCH', `/api/apps/${id}`, { body: { network: true } })
    expect(permitted.status).toBe(409)
    // Its content is in no file any more.
    await mark(server, project, ['first'])
    const tainted = await opening('a.html', { checkpoint_id: checkpoint })
    expect(tainted.json.data).toMatchObject({ tainted: true, network: false })
    expect(await open(server, project, 'a.html')).toMatchObject({ tainted: false })
    const refused: [path: string, more: object, status: number][] = [
      ['b.html', { checkpoint_id: checkpoint }, 404],
      ['a.html', { checkpoint_id: 'unknown' }, 404],
      ['c.txt', {}, 400],
      ['.hidden/a.html', {}, 400],
      ['missing.html', {}, 404],
      ['../a.html', {}, 403],
    ]
    for (const [path, more, status] of refused)
      expect([path, (await opening(path, more)).status]).toEqual([path, status])
  })
})

/** A folder for a server whose page was built with one library. */
async function withLibrary(): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'nanoclaw-server-'))
  const folder = join(place, 'web/assets/libraries')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'react-1.mjs'), 'export const useState = 1')
  await writeFile(join(folder, 'react-1.mjs.br'), 'shorter')
  const modules = { react: 'libraries/react-1.mjs' }
  await writeFile(
    join(folder, 'libraries.json'),
    JSON.stringify([{ name: 'react', version: '19.0.0', modules }]),
  )
  return place
}

test('a component is compiled line by line, with what it imports and with the libraries of the server', async () => {
  const server = await withApps(await useApps.start({ folder: await withLibrary() }))
  const { json } = await server.call('GET', '/api/apps/libraries')
  expect(json.data).toEqual({ items: [{ name: 'react', version: '19.0.0' }] })
  const project = await newProject(server)
  await write(server, project, {
    'tool/App.tsx':
      "import { useState } from 'react'\nimport { Sum } from './sum'\nimport './look.css'\ninterface Props { n: number }\nexport default function App({ n }: Props) {\n  return <Sum n={n} />\n}",
    'tool/sum.ts': 'export const Sum = ({ n }: { n: number }): number => n',
    'tool/look.css': 'b { color: red }',
    'tool/data.json': '{"a": 1}',
  })
  const { url, kind } = await open(server, project, 'tool/App.tsx')
  expect(kind).toBe('component')
  const document = await reach(url)
  const { origin } = new URL(url)
  expect(document.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(document.text).toContain(`{"imports":{"react":"${origin}/v/-/libraries/react-1.mjs"}}`)
  expect(document.text).toContain('import Component from "./App.tsx?module"')

  const asModule = { headers: { 'sec-fetch-dest': 'script' } }
  const module = async (name: string) => {
    const answer = await reach(url.replace('App.tsx', name), asModule)
    expect([name, answer.status, answer.headers['content-type']]).toEqual([
      name,
      200,
      'text/javascript; charset=utf-8',
    ])
    return answer.text
  }
  const main = await module('App.tsx?module')
  expect(main.split('\n')[5]).toMatch(/^ {2}return _jsx\(Sum, /)
  expect(await module('sum')).toContain('export const Sum = ({ n }) => n')
  expect(await module('look.css')).toContain('style.textContent = "b { color: red }"')
  expect(await module('data.json')).toBe('export default {"a": 1}')
  expect((await reach(url.replace('App.tsx', 'look.css'))).text).toBe('b { color: red }')

  const library = `${origin}/v/-/libraries/react-1.mjs`
  expect(await reach(library)).toMatchObject({ status: 200, text: 'export const useState = 1' })
  expect(await reach(library, { headers: { 'accept-encoding': 'gzip, br' } })).toMatchObject({
    text: 'shorter',
    headers: { 'content-encoding': 'br', 'access-control-allow-origin': '*' },
  })
  for (const path of ['libraries/libraries.json', 'libraries/..%2f..%2fx.mjs', 'index.mjs'])
    expect([path, (await reach(`${origin}/v/-/${path}`)).status]).toEqual([path, 404])
})

test('a component that cannot run says what is wrong, in which file and line', async () => {
  const server = await withApps(await useApps.start({ folder: await withLibrary() }))
  const project = await newProject(server)
  const faults: [source: string, fault: string, line: number][] = [
    ['export default () => <div>\n<p></div>', 'Expected corresponding JSX closing tag', 2],
    ['const a = 1\nconst a = 2\nexport default a', "Identifier 'a' has already been declared.", 2],
    [`export default ${'('.repeat(50_000)}`, 'It is nested too deeply.', 0],
    ['export const A = 1', 'The file exports no component as its default', 0],
    ['\nimport a from "axios"\nexport default a', '“axios” is not there to be imported.', 2],
    ['import a from "./b"\nexport default a', 'The file “./b” is not in the folder of the app.', 1],
    ['import { a } from "./broken"\nexport default a', 'broken.tsx: Unexpected token', 3],
  ]
  await write(server, project, { 'broken.tsx': '\n\nexport const a = <' })
  for (const [source, fault, line] of faults) {
    await write(server, project, { 'App.tsx': source })
    const { text } = await reach((await open(server, project, 'App.tsx')).url)
    expect(text).toContain(fault)
    expect(text).toContain(`, lineno: ${line}})`)
  }
  const empty = await withApps(await useApps.start({}))
  const other = await newProject(empty)
  await write(empty, other, { 'App.jsx': 'export default () => <p />' })
  const { text } = await reach((await open(empty, other, 'App.jsx')).url)
  expect(text).toContain('its page was not built')
})

test('a share with apps has them as they were, with their folders, behind its link and password, and without the network', async () => {
  const server = await withApps(
    await useApps.start({
      folder: await withLibrary(),
      config: { models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' },
    }),
  )
  const project = await newProject(server)
  await write(server, project, { 'tool/sum.js': 'first', 'tool/.env': 'a secret', 'other.txt': '' })
  const conversation = (
    await server.call('POST', '/api/conversations', { body: { project_id: project } })
  ).json.data.id
  upstream.enqueue(
    turn.toolCalls([
      {
        id: 'c1',
        name: 'file_write',
        arguments: JSON.stringify({ path: 'tool/index.html', content: '<h1>First</h1>' }),
      },
    ]),
    turn.text('There it is.'),
  )
  await server.call('POST', `/api/conversations/${conversation}/messages`, {
    body: { text: 'An app', stream: false, approval: 'auto' },
  })
  const share = async (body: object) =>
    (await server.call('POST', `/api/conversations/${conversation}/share`, { body })).json.data
  const { token } = await share({ include: ['apps'] })
  await write(server, project, { 'tool/index.html': '<h1>Second</h1>', 'tool/sum.js': 'second' })

  const { json } = await server.call('GET', `/api/shared/${token}`)
  const apps = json.data.messages.flatMap((message: { apps?: object[] }) => message.apps ?? [])
  expect(apps).toEqual([{ path: 'tool/index.html', kind: 'html' }])
  const page = await fetch(`${server.url}/s/${token}`)
  const address = /src="(http[^"]+index\.html)"/.exec(await page.text())?.[1] ?? ''
  const { origin } = new URL(address)
  expect(address).toBe(`${origin}/v/${token}/tool/index.html`)
  expect(page.headers.get('content-security-policy')).toContain(`frame-src 'self' ${origin};`)
  const host = { host: new URL(address).host }
  const frozen = await reach(address, { headers: host })
  expect(frozen.text).toMatch(/<h1>First<\/h1>$/)
  const policy = String(frozen.headers['content-security-policy'])
  expect(policy).toContain(`script-src 'unsafe-inline' 'unsafe-eval' ${origin};`)
  expect(policy).toContain("connect-src 'none'")
  expect(policy).toMatch(/frame-ancestors http:\/\/localhost:\d+ http:\/\/127\.0\.0\.1:\d+$/)
  const beside = (name: string) => reach(address.replace('tool/index.html', name))
  expect((await beside('tool/sum.js')).text).toBe('first')
  for (const name of ['tool/.env', 'other.txt', 'tool/missing.js', ''])
    expect([name, (await beside(name)).status]).toEqual([name, 404])
  // A copy of an app is no attachment.
  expect((await server.call('GET', `/api/shared/${token}/files/0`)).status).toBe(404)

  await share({ include: ['apps'], password: 'a good password' })
  expect((await reach(address)).status).toBe(404)
  const opened = await fetch(`${server.url}/s/${token}`, {
    method: 'POST',
    body: new URLSearchParams({ password: 'a good password' }),
  })
  const withTicket = /src="(http[^"]+index\.html)"/.exec(await opened.text())?.[1] ?? ''
  expect(withTicket).toMatch(/\/v\/[\w-]{22}~[\w-]{43}\/tool\/index\.html$/)
  expect((await reach(withTicket)).text).toMatch(/<h1>Second<\/h1>$/)
  expect((await reach(withTicket.replace('~', '~A').slice(0, -1))).status).toBe(404)
  await share({ include: [], password: null })
  expect((await reach(address)).status).toBe(404)
})

test('a share has no apps while the groups of its owner have none', async () => {
  const server = await withApps(
    await useApps.start({
      config: { ...MULTI, models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' },
    }),
  )
  const [admin, ada] = [await register(server, 'admin'), await register(server, 'ada')]
  const as = async (token: string, method: string, path: string, body?: object) =>
    (await server.call(method, path, { token, ...(body === undefined ? {} : { body }) })).json.data
  const project = await newProject(server, ada)
  const { id } = await as(ada, 'POST', '/api/conversations', { project_id: project })
  const content = '<h1>First</h1>'
  upstream.enqueue(
    turn.toolCalls([{ id: 'c1', name: 'file_write', arguments: { path: 'app.html', content } }]),
    turn.text('There it is.'),
  )
  await as(ada, 'POST', `/api/conversations/${id}/messages`, {
    ...{ text: 'An app', stream: false, approval: 'auto' },
  })
  const { token } = await as(ada, 'POST', `/api/conversations/${id}/share`, { include: ['apps'] })
  const shown = async () => {
    const page = await (await fetch(`${server.url}/s/${token}`)).text()
    return /src="(http[^"]+app\.html)"/.exec(page)?.[1]
  }
  const address = (await shown()) ?? ''
  const { host } = new URL(address)
  const statusOf = async () => (await reach(address, { headers: { host } })).status
  expect(await statusOf()).toBe(200)
  const group = await as(admin, 'POST', '/api/admin/groups', { name: 'No apps', features: [] })
  const member = `/api/admin/groups/${group.id}/members/${(await as(ada, 'GET', '/api/auth/profile')).id}`
  await as(admin, 'PUT', member)
  expect([await statusOf(), await shown()]).toEqual([404, undefined])
  await as(admin, 'DELETE', member)
  expect([await statusOf(), await shown()]).toEqual([200, address])
})

test('the page may frame its own origin and that of apps and no other, and a document of an app cannot call the server', async () => {
  const server = await withApps(await useApps.start({ config: MULTI }))
  const token = await register(server, 'ada')
  const project = await newProject(server, token)
  await write(server, project, { 'a.html': 'an app' }, token)
  const { origin } = new URL((await open(server, project, 'a.html', token)).url)
  const document = await fetch(`${server.url}/`)
  expect(document.headers.get('content-security-policy')).toContain(
    `frame-src 'self' blob: ${origin};`,
  )
  for (const caller of ['null', origin]) {
    const { status } = await server.call('GET', '/api/auth/profile', {
      token,
      headers: { origin: caller },
    })
    expect([caller, status]).toEqual([caller, 403])
  }
})

test('without a port apps have no address, and switched off they are unknown', async () => {
  const without = await useApps.start({ config: { apps: { port: 0 } } })
  const project = await newProject(without)
  await write(without, project, { 'a.html': 'an app' })
  expect(await open(without, project, 'a.html')).toMatchObject({ url: null, kind: 'html' })
  expect(without.server.appsServer).toBeNull()
  const off = await useApps.start({ config: { apps: { enabled: false } } })
  const body = { project_id: 'x', path: 'a.html' }
  expect((await off.call('POST', '/api/apps', { body })).status).toBe(404)
  expect(off.server.appsServer).toBeNull()
  const commands = async (server: TestServer) =>
    (await server.call('GET', '/api/commands')).json.data.items.map(
      ({ name }: { name: string }) => name,
    )
  expect(await commands(without)).toContain('make-app')
  expect(await commands(off)).not.toContain('make-app')
})

test('models are told of apps in the system prompt where these are on, and of nothing where they are off', async () => {
  const promptWith = async (config: object): Promise<string> => {
    const server = await useApps.start({
      config: { models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off', ...config },
    })
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const before = upstream.requests.length
    upstream.enqueue(turn.text('Hello.'))
    await server.call('POST', `/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Hello', stream: false },
    })
    return JSON.stringify(upstream.requests[before]?.body)
  }
  expect(await promptWith({})).toMatch(/can open HTML, React .* run without any network/)
  const off = await promptWith({ apps: { enabled: false } })
  expect(off).not.toMatch(/Mermaid|make-app/)
})
