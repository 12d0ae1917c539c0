// The API reference: it matches the served routes, describes all of their fields, and is shown only to those who may read it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createSchemaChecker } from '../../support/server/schema-checker.ts'
import {
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'

const TYPED_CLIENT = '../../../examples/typed-client/api.ts'
const MULTI = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }

const { start } = useServers()
let server: TestServer
let text = ''
interface Body {
  content?: Record<string, { schema: object }>
}
interface Operation {
  summary?: string
  security?: object[]
  parameters?: { $ref?: string; name?: string; description?: string }[]
  requestBody?: Body
  responses: Record<string, Body>
}
interface Reference {
  paths: Record<string, Record<string, Operation>>
  components: object
}
let document: Reference

beforeAll(async () => {
  server = await start()
  text = await (await fetch(`${server.url}/openapi.json`)).text()
  document = JSON.parse(text)
})

test('every route of the API is described', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.length).toBeGreaterThan(40)
  expect(new Set(described).size).toBe(described.length)
  const without = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.summary === undefined)
      .map(([method]) => `${method} ${path}`),
  )
  expect(without).toEqual([])
})

test('every POST of a signed-in user takes an Idempotency-Key', () => {
  const takes = Object.entries(document.paths).flatMap(([path, { post }]) =>
    post === undefined || post.security?.length === 0
      ? []
      : [[path, JSON.stringify(post.parameters ?? []).includes('IdempotencyKey')]],
  )
  expect(takes.length).toBeGreaterThan(40)
  expect(takes.filter(([, does]) => does !== true)).toEqual([])
  const signIn = document.paths['/api/auth/login']?.post
  expect(JSON.stringify(signIn?.parameters ?? [])).not.toContain('IdempotencyKey')
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

interface Described {
  $ref?: string
  description?: string
  properties?: Record<string, Described>
  additionalProperties?: Described | boolean
  items?: Described
  anyOf?: Described[]
  oneOf?: Described[]
}
/** The paths of all fields of a schema without a description, also of those inside other fields. */
const undescribed = (schema: Described, path: string): string[] => {
  const { properties = {}, additionalProperties: values, items, anyOf = [], oneOf = [] } = schema
  const fields = Object.entries(properties).flatMap(([name, field]) => [
    ...(field.description === undefined ? [`${path}.${name}`] : []),
    ...undescribed(field, `${path}.${name}`),
  ])
  const inner = [items, ...anyOf, ...oneOf, typeof values === 'object' ? values : undefined]
  return [...fields, ...inner.flatMap((member) => (member ? undescribed(member, path) : []))]
}

/** Every field and parameter of a reference that has no description. */
const allUndescribed = ({ paths, components }: Reference): string[] => {
  const schemas = Object.entries<Described>(Reflect.get(components, 'schemas'))
  const ofOperation = ({ parameters = [], requestBody, responses }: Operation, path: string) => [
    ...parameters
      .filter(({ $ref, description }) => $ref === undefined && description === undefined)
      .map(({ name }) => `${path}: ${name}`),
    ...[requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.values(body?.content ?? {}).flatMap(({ schema }) => undescribed(schema, path)),
    ),
  ]
  return [
    ...schemas.flatMap(([id, schema]) => undescribed(schema, id)),
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        ofOperation(operation, `${method} ${path}`),
      ),
    ),
  ]
}

test('every field of every schema and every parameter of every route has a description', () => {
  expect(allUndescribed(document)).toEqual([])
  // A missing description is noticed.
  const wrong = { paths: {}, components: { schemas: { One: { properties: { two: {} } } } } }
  expect(allUndescribed(wrong)).toEqual(['One.two'])
})

test('responses of the GET routes have the form that the reference declares', async () => {
  const post = async (path: string, body: object) =>
    (await server.call('POST', path, { body })).json.data
  const conversation = await post('/api/conversations', {})
  const one = `/api/conversations/${conversation.id}`
  const question = { text: 'What is 12 * 34?', stream: false }
  const { message, run } = await post(`${one}/messages`, question)
  expect(message.process_steps.length).toBeGreaterThan(2)
  const project = await post('/api/projects', { name: 'Measured' })
  const file = { body: { content: 'text' } }
  await server.call('PUT', `/api/projects/${project.id}/files/a.txt`, file)
  const hook = 'https://hooks.example.org/'
  const channel = { type: 'webhook', name: 'team', settings: { url: hook } }
  await post('/api/channels', channel)
  const ids: Record<string, string> = {
    '/api/conversations': conversation.id,
    '/api/runs': run.id,
    '/v1/responses': run.id,
    '/api/projects': project.id,
    '/api/admin/groups': (await post('/api/admin/groups', { name: 'Team' })).id,
    '/api/webhooks': (await post('/api/webhooks', { url: hook, events: ['run.ended'] })).id,
    '/api/admin/users': (await server.call('GET', '/api/auth/profile')).json.data.id,
    '/api/shared': (await post(`${one}/share`, {})).token,
  }
  const pathTo = (path: string): string => {
    const before = path.split('/{')[0] ?? ''
    const filled = path
      .replace(/\{(id|token)\}/, ids[before] ?? 'none')
      .replace('{mid}', message.id)
      .replace('{*}', before.startsWith('/v1/') ? 'nanoclaw/demo' : 'a.txt')
    return path === '/api/search' ? `${filled}?q=12` : filled
  }
  const checker = createSchemaChecker(document.components)
  const responses = new Map<string, { schema: object; text: string }>()
  for (const [path, { get }] of Object.entries(document.paths)) {
    const schema = get?.responses['200']?.content?.['application/json']?.schema
    if (schema === undefined) continue
    const response = await fetch(server.url + pathTo(path))
    if (response.status !== 200) continue
    checker.add(schema)
    responses.set(path, { schema, text: await response.text() })
  }
  expect(responses.size).toBeGreaterThan(50)
  const wrong: string[] = []
  for (const [path, { schema, text }] of responses) {
    const outcome = await checker.check(schema, text)
    if (outcome !== 'fits') wrong.push(`${path}: ${outcome}`)
  }
  expect(wrong).toEqual([])
  // A wrong type is noticed.
  const schema = responses.get('/api/conversations/{id}')?.schema ?? {}
  const titled = { code: 0, data: { ...conversation, title: 7 } }
  const finding = await checker.check(schema, JSON.stringify(titled))
  expect(finding).toContain('body/data/title must be string')
  await checker.close()
})

test('the reference page loads nothing from other hosts', async () => {
  const response = await fetch(`${server.url}/docs`)
  expect(response.status).toBe(200)
  expect(await response.text()).not.toMatch(/(src|href)="https?:/)
  expect(await (await fetch(`${server.url}/docs/json`)).json()).toEqual(document)
})

test('in multi mode, metrics and reference are for administrators, for named addresses, or public, and the typed client has the types of all its routes', async () => {
  const guarded = ['/metrics', '/openapi.json', '/docs/']
  const statuses = async (server: TestServer, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const found = []
    for (const path of guarded) found.push((await fetch(server.url + path, { headers })).status)
    return found
  }
  const closed = await start({ config: MULTI })
  const admin = await register(closed, 'admin')
  const user = await register(closed, 'user')
  expect(await statuses(closed)).toEqual([401, 401, 401])
  expect(await statuses(closed, user)).toEqual([403, 403, 403])
  expect(await statuses(closed, admin)).toEqual([200, 200, 200])
  const allowed = await start({ config: { ...MULTI, metrics_allow: ['127.0.0.0/8'] } })
  expect(await statuses(allowed)).toEqual([200, 200, 200])
  const open = await start({ config: { ...MULTI, public_reference: true } })
  expect(await statuses(open)).toEqual([200, 200, 200])

  // What the example client was generated from: this server has the routes of multi mode too.
  const reference = JSON.parse(await (await fetch(`${open.url}/openapi.json`)).text())
  expect(allUndescribed(reference)).toEqual([])
  const { paths, components } = reference
  const schemas = Object.entries<object>(components.schemas).sort(([one], [other]) =>
    one < other ? -1 : 1,
  )
  const hash = createHash('sha256').update(JSON.stringify({ paths, schemas })).digest('hex')
  const types = readFileSync(resolve(import.meta.dirname, TYPED_CLIENT), 'utf8')
  expect(
    types.split('\n')[0],
    'start a server in multi mode with public_reference: true, then run npm ci and npm run generate in examples/typed-client',
  ).toContain(hash)
})
