// Every route that names a project, or something in one, asked by an owner, a member who edits, one who uses, and a stranger.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import {
  operationsOf,
  type Reference,
  type Schema,
} from '../../../support/server/schema-requests.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../../support/server/server.ts'

const upstream = await useUpstream()
beforeEach(() => upstream.program(() => turn.text('An answer')))

/** In the order in which they ask: what the later ones change, the earlier ones must not have. */
const ROLES = ['stranger', 'use', 'edit', 'own'] as const
type Role = (typeof ROLES)[number]

/** What is there to ask about: of the project, and of who asks. */
interface Place {
  project: string
  role: Role
  checkpoint: string
  document: string
  sha256: string
  /** Somebody who is no member. */
  other: string
  conversation: string
  schedule: string
  channel: string
}

/** The statuses for an owner, for members who edit and use, and for a stranger. */
type Statuses = Readonly<Record<Role, number>>
const statuses = (own: number, edit: number, use: number, stranger: number): Statuses => ({
  own,
  edit,
  use,
  stranger,
})
const READ = statuses(200, 200, 200, 404)
const CHANGE = statuses(200, 200, 403, 404)
const OWN = statuses(200, 403, 403, 404)
/** It finds only what is the user's own, whatever project is named. */
const FILTER = statuses(200, 200, 200, 200)

interface Row {
  statuses: Statuses
  /** What stands for the parameters of the path, and its query. */
  params?(place: Place): Record<string, string>
  query?(place: Place): Record<string, string>
  body?(place: Place): unknown
  /** A form with one file is sent. */
  isUpload?: true
}

const inQuery = ({ project }: Place) => ({ project_id: project })
const file = (path: string) => () => ({ '*': path })
const ofRole = ({ role }: Place) => ({ '*': `${role}.txt` })
const checkpoint = ({ checkpoint: cid }: Place) => ({ cid })
const document = ({ document: did }: Place) => ({ did })
const ownConversation = ({ conversation: id }: Place) => ({ id })
const builtIn = () => ({ source: 'server', name: 'research' })
const member = ({ other }: Place) => ({ principal: `user:${other}` })
const grant = ({ project }: Place) => ({
  scope: 'project',
  scope_id: project,
  tool: 'file_write',
  match: { path: { equals: 'a.txt' }, content: { any: true } },
})
const schedule = ({ project }: Place) => ({
  name: 'Hourly',
  text: 'Look',
  when: { every: '1h' },
  project_id: project,
})
/** Nothing is sent to it. */
const BRIDGE = { url: 'http://127.0.0.1:9/bridge' }
const asked = { model: 'scripted', messages: [{ role: 'user', content: 'Hello' }] }

/** The answer to an upload of documents. */
const Added = z.object({ data: z.object({ items: z.array(z.object({ id: z.string() })) }) })

/** The project is deleted at the end. */
const ROUTES: Readonly<Record<string, Row>> = {
  'GET /api/projects/{id}': { statuses: READ },
  'GET /api/projects/{id}/members': { statuses: READ },
  'GET /api/projects/{id}/files': { statuses: READ },
  'GET /api/projects/{id}/files/{*}': { statuses: READ, params: file('a.txt') },
  'POST /api/projects/{id}/search': { statuses: READ, body: () => ({ query: 'text' }) },
  'GET /api/project-files': { statuses: READ, query: (at) => ({ ...inQuery(at), q: 'a' }) },
  'GET /api/projects/{id}/previews/{*}': { statuses: READ, params: file('a.csv') },
  'POST /api/projects/{id}/attachments': { statuses: READ, body: () => ({ path: 'a.txt' }) },
  'GET /api/projects/{id}/checkpoints': { statuses: READ },
  'GET /api/projects/{id}/checkpoints/{cid}/files': { statuses: READ, params: checkpoint },
  'GET /api/projects/{id}/checkpoints/{cid}/diff': { statuses: READ, params: checkpoint },
  'GET /api/projects/{id}/documents': { statuses: READ },
  'GET /api/projects/{id}/documents/{did}/passages': { statuses: READ, params: document },
  'GET /api/projects/{id}/consent': { statuses: READ },
  'POST /api/projects/{id}/consent': {
    statuses: READ,
    body: ({ sha256 }) => ({ what: 'agents_md', sha256, decision: 'accept' }),
  },
  'GET /api/skills': { statuses: READ, query: inQuery },
  'GET /api/skills/{source}/{name}': { statuses: READ, params: builtIn, query: inQuery },
  'GET /api/skills/{source}/{name}/file': {
    statuses: READ,
    params: builtIn,
    query: (at) => ({ ...inQuery(at), path: 'SKILL.md' }),
  },
  'POST /api/skills': {
    statuses: CHANGE,
    query: inQuery,
    body: ({ role }) => ({
      content: `---\nname: of-${role}\ndescription: A skill.\n---\nDo it.\n`,
    }),
  },
  'GET /api/commands': { statuses: READ, query: inQuery },
  'POST /api/projects/{id}/copy': {
    statuses: READ,
    body: ({ role }) => ({ name: `Copy of ${role}` }),
  },
  'POST /api/conversations': { statuses: READ, body: inQuery },
  'PATCH /api/conversations/{id}': { statuses: READ, params: ownConversation, body: inQuery },
  'POST /api/grants': { statuses: READ, body: grant },
  'POST /api/grants/preview': { statuses: READ, body: grant },
  'POST /api/apps': { statuses: READ, body: (at) => ({ ...inQuery(at), path: 'a.html' }) },
  'POST /v1/chat/completions': {
    statuses: READ,
    body: (at) => ({ ...asked, nanoclaw: inQuery(at) }),
  },
  'POST /v1/messages': {
    statuses: READ,
    body: (at) => ({ ...asked, max_tokens: 100, nanoclaw: inQuery(at) }),
  },
  'POST /v1/responses': {
    statuses: READ,
    body: (at) => ({ model: 'scripted', input: 'Hello', nanoclaw: inQuery(at) }),
  },
  'POST /api/channels': {
    statuses: READ,
    body: (at) => ({ type: 'bridge', name: 'Second', settings: BRIDGE, receive: inQuery(at) }),
  },
  'PATCH /api/channels/{id}': {
    statuses: READ,
    params: ({ channel: id }) => ({ id }),
    body: (at) => ({ receive: inQuery(at) }),
  },
  'GET /api/conversations': { statuses: FILTER, query: inQuery },
  'GET /api/approvals': { statuses: FILTER, query: inQuery },
  'GET /api/search': { statuses: FILTER, query: (at) => ({ ...inQuery(at), q: 'text' }) },

  'PUT /api/projects/{id}': { statuses: CHANGE, body: () => ({ instructions: 'Be brief.' }) },
  'PUT /api/projects/{id}/files/{*}': {
    statuses: CHANGE,
    params: ofRole,
    body: () => ({ content: 'text' }),
  },
  'PATCH /api/projects/{id}/files/{*}': {
    statuses: CHANGE,
    params: ofRole,
    body: ({ role }) => ({ new_path: `moved-${role}.txt` }),
  },
  'DELETE /api/projects/{id}/files/{*}': {
    statuses: CHANGE,
    params: ({ role }) => ({ '*': `moved-${role}.txt` }),
  },
  'POST /api/projects/{id}/files': { statuses: CHANGE, isUpload: true },
  'POST /api/projects/{id}/directories': {
    statuses: CHANGE,
    body: ({ role }) => ({ path: `folder-${role}` }),
  },
  'POST /api/projects/{id}/checkpoints/{cid}/restore': { statuses: CHANGE, params: checkpoint },
  // Nobody has such a message.
  'POST /api/projects/{id}/checkpoints/restore': {
    statuses: statuses(404, 404, 403, 404),
    body: () => ({ before_message_id: 'none' }),
  },
  'POST /api/projects/{id}/documents': { statuses: CHANGE, isUpload: true },
  'POST /api/projects/{id}/searchable-files': { statuses: CHANGE, body: () => ({ path: 'a.csv' }) },
  // There is no such encoding.
  'PATCH /api/projects/{id}/documents/{did}': {
    statuses: statuses(400, 400, 403, 404),
    params: document,
    body: () => ({ encoding: 'none' }),
  },
  'DELETE /api/projects/{id}/documents/{did}': { statuses: CHANGE, params: document },
  'POST /api/schedules': { statuses: CHANGE, body: schedule },
  'PATCH /api/schedules/{id}': {
    statuses: CHANGE,
    params: ({ schedule: id }) => ({ id }),
    body: inQuery,
  },

  'PUT /api/projects/{id}/members/{principal}': {
    statuses: OWN,
    params: member,
    body: () => ({ role: 'use' }),
  },
  'DELETE /api/projects/{id}/members/{principal}': { statuses: OWN, params: member },
  'GET /api/projects/{id}/bundle': { statuses: OWN },
  // It is no longer the files of one conversation, and those are nobody else's.
  'POST /api/projects/{id}/keep': {
    statuses: statuses(409, 404, 404, 404),
    body: () => ({ name: 'Kept' }),
  },
  'DELETE /api/projects/{id}': { statuses: OWN },
}

/** Their bodies may repeat what the server has said about an attachment, which names the project of a document. */
const ELSEWHERE = [
  'POST /api/conversations/{id}/messages',
  'PATCH /api/conversations/{id}/messages/{mid}',
  'POST /api/conversations/{id}/regenerate/{mid}',
  // Its grant is made as by `POST /api/grants`, by the person of the run.
  'POST /api/runs/{id}/approvals',
]

/** Whether a body names a project by itself or in what it contains. */
function namesProject(schema: Schema | undefined, schemas: Record<string, Schema>): boolean {
  const seen = new Set<Schema>()
  const look = (one: Schema | undefined): boolean => {
    if (one === undefined || seen.has(one)) return false
    seen.add(one)
    const properties = one.properties ?? {}
    if ('project_id' in properties || 'scope_id' in properties) return true
    const inner = [...Object.values(properties), one.items]
    const parts = [...(one.anyOf ?? []), ...(one.oneOf ?? []), ...(one.allOf ?? [])]
    const named = one.$ref === undefined ? undefined : schemas[one.$ref.split('/').at(-1) ?? '']
    return [...inner, ...parts, named].some(look)
  }
  return look(schema)
}

describeOnEachServer('the routes of a project', (start) => {
  let server: TestServer
  const tokens = new Map<Role, string>()
  let reference: Reference
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
    })
    for (const role of ['own', 'edit', 'use', 'stranger'] as const)
      tokens.set(role, await register(server, `who-${role}`))
    const answer = await fetch(`${server.url}/openapi.json`, {
      headers: { authorization: `Bearer ${tokens.get('own')}` },
    })
    // As the schema-driven tests read it.
    reference = (await answer.json()) as Reference
  })
  const call = async (role: Role, method: string, path: string, body?: unknown) =>
    await server.call(method, path, {
      token: tokens.get(role),
      ...(body === undefined ? {} : { body }),
    })
  const form = (name: string, content: string) => {
    const data = new FormData()
    data.append('files[]', new Blob([content]), name)
    return data
  }
  const upload = async (role: Role, path: string, data: FormData) =>
    await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.get(role)}` },
      body: data,
    })

  test('that name it, in their path, their query or their body, are all in the table', () => {
    const { schemas } = reference.components
    const found = operationsOf(reference).filter(
      ({ path, query, body }) =>
        path.startsWith('/api/projects/{id}') ||
        query.includes('project_id') ||
        namesProject(body, schemas),
    )
    const names = found.map(({ method, path }) => `${method} ${path}`)
    expect([...Object.keys(ROUTES), ...ELSEWHERE].toSorted()).toEqual(names.toSorted())
  })

  test('give each role what it may do, and a stranger nothing', async () => {
    const project = (await call('own', 'POST', '/api/projects', { name: 'P' })).json.data.id
    const at = `/api/projects/${project}`
    for (const path of ['a.txt', 'a.csv', 'a.html'])
      await call('own', 'PUT', `${at}/files/${path}`, { content: 'text,1\n' })
    await upload('own', `${at}/files`, form('AGENTS.md', 'Be kind.'))
    for (const role of ['edit', 'use'] as const)
      expect(await call('own', 'PUT', `${at}/members/user:@who-${role}`, { role })).toMatchObject({
        status: 200,
        json: { data: { name: `who-${role}`, role } },
      })
    await register(server, 'somebody')
    const other = '@somebody'
    const places = new Map<Role, Place>()
    for (const role of ROLES) {
      const added = await upload('own', `${at}/documents`, form(`${role}.txt`, `Of ${role}`))
      const { data } = Added.parse(await added.json())
      const conversation = await call(role, 'POST', '/api/conversations', {})
      const channel = { type: 'bridge', name: 'First', settings: BRIDGE }
      const made = { name: 'Mine', text: 'Look', when: { every: '1h' } }
      const [newest] = (await call('own', 'GET', `${at}/checkpoints`)).json.data.items
      places.set(role, {
        project,
        role,
        other,
        checkpoint: newest.id,
        document: data.items[0]?.id ?? '',
        sha256: (await call('own', 'GET', at)).json.data.agents_md.sha256,
        conversation: conversation.json.data.id,
        schedule: (await call(role, 'POST', '/api/schedules', made)).json.data.id,
        channel: (await call(role, 'POST', '/api/channels', channel)).json.data.id,
      })
    }

    const answers: Record<string, Record<string, number>> = {}
    for (const [route, row] of Object.entries(ROUTES)) {
      const [method = '', template = ''] = route.split(' ')
      const given: Record<string, number> = {}
      for (const [role, place] of places) {
        const params = { id: project, ...row.params?.(place) }
        let path = template
        for (const [name, value] of Object.entries(params)) path = path.replace(`{${name}}`, value)
        const query = new URLSearchParams(row.query?.(place)).toString()
        if (query !== '') path += `?${query}`
        if (row.isUpload) {
          given[role] = (await upload(role, path, form(`up-${role}.txt`, 'text'))).status
          continue
        }
        const raw = await fetch(`${server.url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${tokens.get(role)}`,
            ...(row.body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(row.body === undefined ? {} : { body: JSON.stringify(row.body(place)) }),
        })
        given[role] = raw.status
        const text = await raw.text()
        // A stranger learns no more than that there is nothing.
        if (role === 'stranger' && raw.status === 404) expect(text).not.toContain('"P"')
        if (raw.status === 403)
          expect(JSON.parse(text).error).toMatch(/^(read_only_project|owner_only)$/)
      }
      answers[route] = given
    }
    expect(answers).toEqual(
      Object.fromEntries(Object.entries(ROUTES).map(([route, row]) => [route, row.statuses])),
    )
  })
})
