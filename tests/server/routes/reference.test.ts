// The API reference matches the served routes, and who may read it.
import { beforeAll, expect, test } from 'vitest'
import { register, TEST_JWT_SECRET, type TestServer, useServers } from '../../support/server.ts'

const MULTI = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }

const { start } = useServers()
let server: TestServer
let text = ''
let document: Record<string, Record<string, Record<string, { summary?: string }>>>

beforeAll(async () => {
  server = await start()
  text = await (await fetch(`${server.url}/openapi.json`)).text()
  document = JSON.parse(text)
})

test('every route of the API is described', () => {
  const described = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.length).toBeGreaterThan(40)
  expect(new Set(described).size).toBe(described.length)
  const without = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.summary === undefined)
      .map(([method]) => `${method} ${path}`),
  )
  expect(without).toEqual([])
})

test('every reference leads to a schema of the document', () => {
  const references = new Set(
    [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? ''),
  )
  expect(references.size).toBeGreaterThan(10)
  const dangling = [...references].filter((reference) => {
    let node: unknown = document
    for (const part of reference.replace(/^#\//, '').split('/'))
      node = Reflect.get(Object(node), part)
    return !reference.startsWith('#/') || node === undefined
  })
  expect(dangling).toEqual([])
})

test('the reference page loads nothing from other hosts', async () => {
  const answer = await fetch(`${server.url}/docs`)
  expect(answer.status).toBe(200)
  expect(await answer.text()).not.toMatch(/(src|href)="https?:/)
  expect(await (await fetch(`${server.url}/docs/json`)).json()).toEqual(document)
})

test('in multi mode, metrics and reference are for administrators, for named addresses, or public', async () => {
  const paths = ['/metrics', '/openapi.json', '/docs/']
  const statuses = async (server: TestServer, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const found = []
    for (const path of paths) found.push((await fetch(server.url + path, { headers })).status)
    return found
  }
  const guarded = await start({ config: MULTI })
  const admin = await register(guarded, 'admin')
  const user = await register(guarded, 'user')
  expect(await statuses(guarded)).toEqual([401, 401, 401])
  expect(await statuses(guarded, user)).toEqual([403, 403, 403])
  expect(await statuses(guarded, admin)).toEqual([200, 200, 200])
  const allowed = await start({ config: { ...MULTI, metrics_allow: ['127.0.0.0/8'] } })
  expect(await statuses(allowed)).toEqual([200, 200, 200])
  const open = await start({ config: { ...MULTI, public_reference: true } })
  expect(await statuses(open)).toEqual([200, 200, 200])
})
