// Each act that the audit log knows leaves exactly one entry with its actor, whoever does it in whatever way.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { administer } from '../../../server/commands/admin.ts'
import { backUp, restore } from '../../../server/commands/backup.ts'
import { move } from '../../../server/commands/move.ts'
import { databaseSettings } from '../../../server/config/settings.ts'
import { connect } from '../../../server/db/connect.ts'
import { inspectSetting } from '../../../server/db/inspect.ts'
import { createStore } from '../../../server/db/store.ts'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'
import { PUSH_KEY_SETTING } from '../../../server/messaging/push.ts'
import { AuditAction } from '../../../server/protocol/admin/audit.ts'
import { ProjectId } from '../../../server/protocol/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { startBoard } from '../../support/mcp-board.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import {
  databaseKeys,
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'
import { createBrowser, startRealIssuer } from '../../support/sign-in/issuer.ts'
import {
  settings as oidcSettings,
  PUBLIC,
  setUp,
  signIn,
} from '../../support/sign-in/single-sign-on.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { onServer } from '../../support/store/postgres-server.ts'

const Entry = z.object({
  id: z.string(),
  action: z.string(),
  username: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
})
const Entries = z.object({ data: z.object({ items: z.array(Entry) }) })

const McpServers = z.object({
  data: z.object({ items: z.array(z.object({ name: z.string(), state: z.string() })) }),
})

const quiet = { info() {}, warn() {} }
const upstream = await useUpstream()

/** Who does an act: a session of the page, an API key, somebody who is not signed in, … */
type Caller =
  | 'page'
  | 'key'
  | 'visitor'
  | 'single sign-on'
  | 'mcp'
  | 'link'
  | 'channel'
  | 'run'
  | 'server'
  | 'command'
const ADMIN = ['page', 'key'] as const satisfies readonly Caller[]

/** Everybody who can do each act. What is missing for a caller is refused to it, or cannot be asked for. */
const CALLERS: Record<AuditAction, readonly Caller[]> = {
  sign_in: ['visitor', 'single sign-on'],
  sign_in_failed: ['visitor', 'single sign-on'],
  sign_out: ['page'],
  register: ['visitor', 'single sign-on', 'command'],
  identity_linked: ['single sign-on'],
  second_factor_added: ['page'],
  second_factor_removed: ['page'],
  second_factor_reset: [...ADMIN, 'command'],
  recovery_codes_created: ['page'],
  keys_rotated: ['command'],
  session_reused: ['visitor'],
  sessions_ended: [...ADMIN, 'command'],
  password_reset: ['visitor'],
  reset_link_created: [...ADMIN, 'command'],
  key_created: ['page'],
  key_deleted: ADMIN,
  account_changed: [...ADMIN, 'command', 'single sign-on'],
  account_deleted: [...ADMIN, 'command'],
  run_stopped: ADMIN,
  settings_changed: ADMIN,
  invitation_created: ADMIN,
  invitation_deleted: ADMIN,
  group_created: ADMIN,
  group_changed: ADMIN,
  group_deleted: ADMIN,
  group_member_added: [...ADMIN, 'single sign-on'],
  group_member_removed: [...ADMIN, 'single sign-on'],
  model_added: ADMIN,
  model_changed: ADMIN,
  model_deleted: ADMIN,
  mcp_server_added: ADMIN,
  mcp_server_changed: ADMIN,
  mcp_server_deleted: ADMIN,
  webhook_created: ADMIN,
  webhook_changed: ADMIN,
  webhook_secret_replaced: ADMIN,
  webhook_deleted: ADMIN,
  approval_decided: [...ADMIN, 'mcp', 'link', 'channel'],
  approvers_changed: ADMIN,
  member_added: ADMIN,
  member_changed: ADMIN,
  member_removed: ADMIN,
  approval_link_created: ADMIN,
  grant_created: ADMIN,
  grant_used: ['run'],
  grant_removed: ADMIN,
  app_network_allowed: ['page'],
  app_network_ended: ['page', 'server'],
  mcp_app_domains_allowed: ['page'],
  mcp_app_domains_ended: ['page'],
  mcp_app_called: ADMIN,
  schedule_created: ADMIN,
  schedule_changed: ADMIN,
  schedule_deleted: ADMIN,
  hook_token_replaced: ADMIN,
  sender_allowed: ADMIN,
  sender_blocked: ADMIN,
  share_created: ADMIN,
  share_deleted: ADMIN,
  exported: [...ADMIN, 'command'],
  audit_exported: ADMIN,
  backup_created: ['command'],
  backup_restored: ['command'],
  folders_adopted: ['command'],
  database_moved: ['command'],
}

describe.each(DIALECTS)('while no entry of the audit log can be stored (%s)', (dialect) => {
  const { start } = useServers()
  const databases = useDatabases()

  test('no act of an administrator or a member is done, and afterwards each is done with its entry', async () => {
    const settings = await databases.migrated(dialect)
    const server = await start({
      config: {
        ...databaseKeys(settings),
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
      },
    })
    const token = await register(server, 'ada')
    const other = await register(server, 'bob')
    const bob = (await server.call('GET', '/api/auth/profile', { token: other })).json.data.id
    const admin = (method: string, path: string, body?: object) =>
      server.call(method, path.startsWith('/api/') ? path : `/api/admin${path}`, {
        token,
        ...(body === undefined ? {} : { body }),
      })
    const group = (await admin('POST', '/groups', { name: 'Herons' })).json.data.id
    const url = 'https://api.example.org/v1'
    await admin('POST', '/models', { id: 'm', name: 'm', api_url: url, api_key: 'sk-a' })
    await admin('POST', '/mcp', { name: 'm', url: 'http://127.0.0.1:9/mcp' })
    const invitation = (await admin('POST', '/invitations', {})).json.data.id
    const session = (await admin('GET', `/users/${bob}/sessions`)).json.data.items[0].id
    const talk = (await admin('POST', '/api/conversations', { title: 'x' })).json.data.id
    const key = (await admin('POST', '/api/auth/keys', { name: 'first' })).json.data.id
    const hook = { url: 'https://hooks.example/a', events: ['run.ended'] }
    const webhook = `/api/webhooks/${(await admin('POST', '/api/webhooks', hook)).json.data.id}`
    const timed = { name: 'Morning', text: 'Look.', when: { hook: true } }
    const schedule = `/api/schedules/${(await admin('POST', '/api/schedules', timed)).json.data.id}`
    const acts: [action: string, method: string, path: string, body?: object][] = [
      ['share_created', 'POST', `/api/conversations/${talk}/share`, {}],
      ['share_deleted', 'DELETE', `/api/conversations/${talk}/share`],
      ['exported', 'POST', '/api/exports', {}],
      ['key_created', 'POST', '/api/auth/keys', { name: 'second' }],
      ['key_deleted', 'DELETE', `/api/auth/keys/${key}`],
      ['webhook_created', 'POST', '/api/webhooks', hook],
      ['webhook_changed', 'PATCH', webhook, { is_active: false }],
      ['webhook_secret_replaced', 'POST', `${webhook}/secret`, {}],
      ['webhook_deleted', 'DELETE', webhook],
      ['schedule_created', 'POST', '/api/schedules', timed],
      ['schedule_changed', 'PATCH', schedule, { name: 'Evening' }],
      ['hook_token_replaced', 'POST', `${schedule}/hook-token`, {}],
      ['schedule_deleted', 'DELETE', schedule],
      ['account_changed', 'PATCH', '/api/auth/profile', { email: 'ada@example.org' }],
      ['group_created', 'POST', '/groups', { name: 'Storks' }],
      ['group_changed', 'PATCH', `/groups/${group}`, { description: 'Long legs' }],
      ['group_member_added', 'PUT', `/groups/${group}/members/${bob}`],
      ['group_member_removed', 'DELETE', `/groups/${group}/members/${bob}`],
      ['group_deleted', 'DELETE', `/groups/${group}`],
      ['model_added', 'POST', '/models', { id: 'n', name: 'n', api_url: url, api_key: 'sk-a' }],
      ['model_changed', 'PATCH', '/models/m', { name: 'Other' }],
      ['model_deleted', 'DELETE', '/models/m'],
      ['mcp_server_added', 'POST', '/mcp', { name: 'n', url: 'http://127.0.0.1:9/mcp' }],
      ['mcp_server_changed', 'PATCH', '/mcp/m', { enabled: false }],
      ['mcp_server_deleted', 'DELETE', '/mcp/m'],
      ['invitation_created', 'POST', '/invitations', { note: 'For Cyd' }],
      ['invitation_deleted', 'DELETE', `/invitations/${invitation}`],
      ['settings_changed', 'PATCH', '/settings', { registration: 'closed' }],
      ['account_changed', 'PATCH', `/users/${bob}`, { quota: { concurrent_runs: 2 } }],
      ['account_changed', 'PATCH', `/users/${bob}`, { role: 'admin' }],
      ['sessions_ended', 'DELETE', `/users/${bob}/sessions/${session}`],
      ['sessions_ended', 'DELETE', `/users/${bob}/sessions`],
    ]
    /** What the acts change, without times. */
    const state = async () => {
      const parts: unknown[] = []
      for (const path of ['/groups', '/models', '/invitations', '/settings', '/users'])
        parts.push((await admin('GET', path)).json.data)
      for (const path of ['/api/shares', '/api/auth/keys', '/api/webhooks'])
        parts.push((await admin('GET', path)).json.data.items)
      // They connect meanwhile.
      const { items } = McpServers.parse((await admin('GET', '/mcp')).json).data
      parts.push(items.map(({ name, state: is }) => [name, is === 'disabled']))
      parts.push((await admin('GET', `/users/${bob}/sessions`)).json.data.items.length)
      parts.push((await admin('GET', `/groups/${group}/members`)).json.data?.items.length)
      return parts
    }
    const execute = async (statement: string): Promise<void> => {
      if (settings.dialect === 'sqlite') {
        const client = new SqliteClient(settings.file)
        client.exec(statement)
        client.close()
      } else if ('url' in settings.connection) await onServer(settings.connection.url, statement)
    }
    const rename = (from: string, to: string) => execute(`alter table ${from} rename to ${to}`)
    const count = async () =>
      Entries.parse((await admin('GET', '/audit?limit=100')).json).data.items.length
    for (const [action, method, path, body] of acts) {
      const before = await state()
      await rename('audit_entries', 'audit_entries_away')
      const refused = await admin(method, path, body)
      await rename('audit_entries_away', 'audit_entries')
      expect([action, refused.status >= 500]).toEqual([action, true])
      expect([action, await state()]).toEqual([action, before])
      const entries = await count()
      expect([action, (await admin(method, path, body)).status]).toEqual([action, 200])
      expect([action, (await count()) - entries]).toEqual([action, 1])
    }
    await server.close()
    const { config } = server.server
    /** The keys on disk and the one in the database. */
    const keys = async () => {
      const file = (name: string) => {
        const path = join(config.data_dir, name)
        return existsSync(path) ? readFileSync(path, 'utf8') : null
      }
      const push = await inspectSetting(settings, PUSH_KEY_SETTING)
      return [file('secret.key'), file('token-keys.json'), push]
    }
    // Only a key that is missing or cannot be opened is replaced.
    await execute(`delete from settings where key = '${PUSH_KEY_SETTING}'`)
    for (const command of ['rotate-keys', 'reset-push-key']) {
      const before = await keys()
      await rename('audit_entries', 'audit_entries_away')
      await expect(administer(config, [command]), command).rejects.toThrow()
      await rename('audit_entries_away', 'audit_entries')
      expect([command, await keys()]).toEqual([command, before])
      await administer(config, [command])
      expect([command, await keys()]).not.toEqual([command, before])
    }
  })
})

describeOnEachServer('an act', (start) => {
  const done = new Map<AuditAction, Set<Caller>>()
  /** Remembers who did the acts of these entries. */
  const note = (found: readonly { action: string }[], caller: Caller): void => {
    for (const { action } of found) {
      const known = AuditAction.parse(action)
      done.set(known, (done.get(known) ?? new Set()).add(caller))
    }
  }
  const issuers: Awaited<ReturnType<typeof startRealIssuer>>[] = []
  afterAll(() => Promise.all(issuers.map((issuer) => issuer.close())))
  let server: TestServer
  let board: Awaited<ReturnType<typeof startBoard>>
  afterAll(() => board.close())
  let session = ''
  let key = ''
  let bob = ''
  beforeAll(async () => {
    board = await startBoard()
    server = await start({
      mcp_servers: { board: board.settings },
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      limits: { registrations_per_hour: 100 },
    })
    session = await register(server, 'ada')
    const token = await register(server, 'bob')
    bob = (await server.call('GET', '/api/auth/profile', { token })).json.data.id
    const body = { name: 'everything', scopes: ['read', 'api', 'admin', 'v1', 'mcp'] }
    key = (await server.call('POST', '/api/auth/keys', { token: session, body })).json.data.key
  })

  const entries = async () => {
    const { json } = await server.call('GET', '/api/admin/audit?limit=100', { token: session })
    return Entries.parse(json).data.items
  }

  /** The entries that `work` adds, newest first. */
  async function added(work: () => Promise<unknown>) {
    const known = new Set((await entries()).map(({ id }) => id))
    await work()
    return (await entries()).filter(({ id }) => !known.has(id))
  }

  /** A channel to which a stranger has written; nothing that it sends arrives anywhere. */
  async function channelWithSender(token: string, name: string, receive: object) {
    const settings = { url: `http://127.0.0.1:9/${name}` }
    const { id, token: own } = (
      await server.call('POST', '/api/channels', {
        token,
        body: { type: 'bridge', name, settings, receive },
      })
    ).json.data
    const path = `/api/channels/${id}`
    const give = async (message: string, text: string) => {
      const body = { id: message, chat_id: 'c', sender: { id: 'ann' }, text }
      const given = await server.call('POST', `${path}/incoming`, { token: own, body })
      expect(given.status).toBe(202)
    }
    await give('1', 'Hello')
    const [{ id: sender }] = (await server.call('GET', `${path}/senders`, { token })).json.data
      .items
    return { path, sender, give }
  }

  test('of the server that ends the network of an app, because of text from outside, leaves one entry with its account', async () => {
    const token = session
    const { id: project } = (
      await server.call('POST', '/api/projects', { token, body: { name: 'Told' } })
    ).json.data
    const write = (content: string) =>
      server.call('PUT', `/api/projects/${project}/files/a.html`, {
        token,
        body: { content },
      })
    const open = () =>
      server.call('POST', '/api/apps', {
        token,
        body: { project_id: project, path: 'a.html' },
      })
    await write('ours')
    const { id } = (await open()).json.data
    const body = { network: true }
    await server.call('PATCH', `/api/apps/${id}`, { token, body })
    await write('what a page has said')
    const database = await connect(databaseSettings(server.server.config), { log: quiet })
    try {
      const hash = createHash('sha256').update('what a page has said').digest('hex')
      await createStore(database).outsideContents.add(ProjectId.parse(project), [hash])
    } finally {
      await database.close()
    }
    const ended = await added(open)
    expect(ended.map(({ action, username }) => [action, username])).toEqual([
      ['app_network_ended', 'ada'],
    ])
    expect(ended.map(({ details }) => details.by)).toEqual(['server'])
    note(ended, 'server')
  })

  test.each(['the page', 'an API key'])(
    'through %s leaves one entry with its account, and one that is refused leaves none',
    async (door) => {
      const isKey = door === 'an API key'
      const token = isKey ? key : session

      /** Does one act. @returns the data of the response; null if this door may not do it. */
      async function act(action: string, method: string, path: string, body?: object) {
        let status = 0
        // biome-ignore lint/suspicious/noExplicitAny: responses of every shape, which the next acts check
        let data: any = null
        const found = await added(async () => {
          const response = await server.call(method, path, {
            token,
            ...(body === undefined ? {} : { body }),
          })
          status = response.status
          if (response.status < 300) data = response.json?.data
        })
        // What only a person may do is refused to keys.
        if (isKey && status === 403) {
          expect([action, found]).toEqual([action, []])
          return null
        }
        expect.soft([action, status]).toEqual([action, 200])
        expect.soft(found.map((entry) => [entry.action, entry.username])).toEqual([[action, 'ada']])
        const { api_key: byKey } = z
          .object({ api_key: z.string().optional() })
          .parse(found[0]?.details)
        expect([action, byKey !== undefined]).toEqual([action, isKey])
        note(found, isKey ? 'key' : 'page')
        return data
      }

      const talk = await server.call('POST', '/api/conversations', { token, body: { title: 'x' } })
      const conversation = `/api/conversations/${talk.json.data.id}`
      await act('share_created', 'POST', `${conversation}/share`, {})
      await act('share_deleted', 'DELETE', `${conversation}/share`)
      await act('exported', 'GET', `${conversation}/export?format=json`)
      const hook = { url: 'https://hooks.example/a', events: ['run.ended'] }
      const timed = { name: 'Morning', text: 'Look.', when: { hook: true } }
      const schedule = await act('schedule_created', 'POST', '/api/schedules', timed)
      if (schedule !== null) {
        const own = `/api/schedules/${schedule.id}`
        await act('schedule_changed', 'PATCH', own, { name: 'Evening' })
        await act('hook_token_replaced', 'POST', `${own}/hook-token`, {})
        await act('schedule_deleted', 'DELETE', own)
      }
      const { path, sender } = await channelWithSender(token, isKey ? 'keys' : 'pages', {})
      await act('sender_allowed', 'PUT', `${path}/senders/${sender}`, { state: 'allowed' })
      await act('sender_blocked', 'PUT', `${path}/senders/${sender}`, { state: 'blocked' })
      const webhook = await act('webhook_created', 'POST', '/api/webhooks', hook)
      if (webhook !== null) {
        const own = `/api/webhooks/${webhook.id}`
        await act('webhook_changed', 'PATCH', own, { url: 'https://elsewhere.example/b' })
        await act('webhook_secret_replaced', 'POST', `${own}/secret`, {})
        await act('webhook_deleted', 'DELETE', own)
      }
      await act('key_created', 'POST', '/api/auth/keys', { name: door })
      const made = (
        await server.call('POST', '/api/auth/keys', { token: session, body: { name: door } })
      ).json.data
      await act('key_deleted', 'DELETE', `/api/auth/keys/${made.id}`)
      await act('account_changed', 'PATCH', '/api/auth/profile', {
        email: `${isKey ? 'k' : 'p'}@example.org`,
      })
      const project = (
        await server.call('POST', '/api/projects', { token, body: { name: `Of ${door}` } })
      ).json.data.id
      await act('approvers_changed', 'PUT', `/api/projects/${project}`, {
        approvers: [`user:${bob}`],
      })
      const member = `/api/projects/${project}/members/user:${bob}`
      await act('member_added', 'PUT', member, { role: 'use' })
      await act('member_changed', 'PUT', member, { role: 'edit' })
      await act('member_removed', 'DELETE', member)
      const grant = await act('grant_created', 'POST', '/api/grants', {
        ...{ scope: 'project', scope_id: project, tool: 'file_write' },
        match: { path: { equals: 'a.txt' }, content: { any: true } },
      })
      if (grant !== null) await act('grant_removed', 'DELETE', `/api/grants/${grant.id}`)
      await server.call('PUT', `/api/projects/${project}/files/a.html`, {
        token,
        body: { content: '<p>An app</p>' },
      })
      const opened = { project_id: project, path: 'a.html' }
      const app = (await server.call('POST', '/api/apps', { token, body: opened })).json.data.id
      await act('app_network_allowed', 'PATCH', `/api/apps/${app}`, { network: true })
      await act('app_network_ended', 'PATCH', `/api/apps/${app}`, { network: false })
      upstream.enqueue(
        turn.toolCalls([{ id: 'show', name: 'mcp__board__board', arguments: {} }]),
        turn.text('There it is.'),
      )
      const shown = await server.call('POST', `${conversation}/messages`, {
        token,
        body: { text: 'Show the board', stream: false },
      })
      const called = `/api/runs/${shown.json.data.run.id}/apps/show/call`
      await act('mcp_app_called', 'POST', called, { name: 'look' })
      const group = await act('group_created', 'POST', '/api/admin/groups', { name: door })
      if (group !== null) {
        const own = `/api/admin/groups/${group.id}`
        await act('group_changed', 'PATCH', own, { name: `${door} renamed` })
        await act('group_member_added', 'PUT', `${own}/members/${bob}`)
        await act('group_member_removed', 'DELETE', `${own}/members/${bob}`)
        await act('group_deleted', 'DELETE', own)
      }
      const id = isKey ? 'by-key' : 'by-page'
      const model = { id, name: id, api_url: 'https://api.example.org/v1', api_key: 'sk-a' }
      if ((await act('model_added', 'POST', '/api/admin/models', model)) !== null) {
        await act('model_changed', 'PATCH', `/api/admin/models/${id}`, { name: 'Other' })
        await act('model_deleted', 'DELETE', `/api/admin/models/${id}`)
      }
      const mcp = { name: id, url: 'http://127.0.0.1:9/mcp' }
      if ((await act('mcp_server_added', 'POST', '/api/admin/mcp', mcp)) !== null) {
        const at = `/api/mcp/apps/${id}/domains`
        const domains = ['https://example.org']
        await act('mcp_app_domains_allowed', 'PUT', at, { domains, allowed: true })
        await act('mcp_app_domains_ended', 'PUT', at, { domains, allowed: false })
        const enabled = { enabled: false }
        await act('mcp_server_changed', 'PATCH', `/api/admin/mcp/${id}`, enabled)
        await act('mcp_server_deleted', 'DELETE', `/api/admin/mcp/${id}`)
      }
      const invitation = await act('invitation_created', 'POST', '/api/admin/invitations', {})
      if (invitation !== null)
        await act('invitation_deleted', 'DELETE', `/api/admin/invitations/${invitation.id}`)
      await act('account_changed', 'PATCH', `/api/admin/users/${bob}`, { role: 'admin' })
      await act('account_changed', 'PATCH', `/api/admin/users/${bob}`, { role: 'user' })
      await act('account_changed', 'PATCH', `/api/admin/users/${bob}`, {
        quota: { concurrent_runs: isKey ? 2 : 3 },
      })
      await act('sessions_ended', 'DELETE', `/api/admin/users/${bob}/sessions`)
      await act('settings_changed', 'PATCH', '/api/admin/settings', { sharing: null })
      await act('reset_link_created', 'POST', `/api/admin/users/${bob}/reset-link`)
      await act('second_factor_reset', 'DELETE', `/api/admin/users/${bob}/second-factors`)
      const leaving = await register(server, isKey ? 'kim' : 'pat')
      const gone = (await server.call('GET', '/api/auth/profile', { token: leaving })).json.data.id
      await act('account_deleted', 'DELETE', `/api/admin/users/${gone}`)
    },
  )

  const write = { id: 'w', name: 'file_write', arguments: { path: 'a.txt', content: 'a' } }
  const newProject = async (name: string): Promise<string> =>
    (await server.call('POST', '/api/projects', { token: key, body: { name } })).json.data.id
  const summary = (found: Awaited<ReturnType<typeof entries>>) =>
    found.map(({ action, username, details: { decision, tool, by, api_key } }) => ({
      ...{ action, username, decision, tool, by },
      isByKey: api_key !== undefined,
    }))
  const decided = { action: 'approval_decided', username: 'ada', tool: 'file_write', isByKey: true }

  test('of a person who decides at a messenger leaves one entry', async () => {
    const project_id = await newProject('Of a messenger')
    const { path, sender, give } = await channelWithSender(key, 'phone', { project_id })
    const body = { state: 'allowed' }
    await server.call('PUT', `${path}/senders/${sender}`, { token: key, body })
    upstream.enqueue(turn.toolCalls([write]), turn.text('Done.'))
    let attempt = 1
    const pending = async () =>
      (await server.call('GET', '/api/approvals', { token: key })).json.data.items
    const found = await added(async () => {
      await give('2', 'Write')
      await eventually(async () => expect(await pending()).toHaveLength(1))
      await eventually(async () => {
        attempt += 1
        await give(`approve ${attempt}`, '/approve')
        expect(await pending()).toEqual([])
      })
    })
    const by = { by: 'channel:phone', isByKey: false, decision: 'approve' }
    expect(summary(found)).toEqual([{ ...decided, ...by }])
    note(found, 'channel')
    // The next test brings turns of its own.
    await eventually(() => upstream.expectDone())
  })

  test('of a person who decides in a client of /mcp leaves one entry', async () => {
    const project = await newProject('Of a client')
    const client = new Client(
      { name: 'tests', version: '1' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
    )
    let approve = true
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { approve },
    }))
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
      }),
    )
    for (const decision of ['approve', 'reject']) {
      approve = decision === 'approve'
      upstream.enqueue(turn.toolCalls([write]), turn.text('Done.'))
      const found = await added(() =>
        client.callTool({ name: 'ask', arguments: { text: 'Write', project_id: project } }),
      )
      expect(summary(found)).toEqual([{ ...decided, decision, by: 'mcp' }])
      note(found, 'mcp')
    }
    await client.close()
    upstream.expectDone()
  })

  test('on a run of /v1 leaves one entry if a person decides or an administrator stops it, and none if its own program cancels it or nobody is asked', async () => {
    const project = await newProject('Of a program')
    const body = { model: 'nanoclaw/scripted', input: 'Write', nanoclaw: { project_id: project } }
    const status = async (run: string) =>
      (await server.call('GET', `/api/runs/${run}`, { token: key })).json.data.status
    async function waiting(): Promise<string> {
      upstream.enqueue(turn.toolCalls([write]))
      const response = await server.call('POST', '/v1/responses', {
        token: key,
        headers: { 'x-nanoclaw-approval': 'wait' },
        body: { ...body, background: true },
      })
      const id = z.object({ id: z.string() }).parse(response.json).id
      await expect.poll(() => status(id)).toBe('awaiting_approval')
      return id
    }
    for (const decision of ['approve', 'reject']) {
      const id = await waiting()
      const path = `/api/runs/${id}/approvals`
      upstream.enqueue(turn.text('Done.'))
      const given = { token: key, body: { id_ref: 'w', decision } }
      const found = await added(async () => {
        expect((await server.call('POST', path, given)).status).toBe(200)
        // It is decided already.
        expect((await server.call('POST', path, given)).status).toBe(409)
      })
      expect(summary(found)).toEqual([{ ...decided, decision, by: undefined }])
      note(found, 'key')
      await expect.poll(() => status(id)).toBe('completed')
    }
    upstream.enqueue(turn.toolCalls([write]), turn.text('I may not.'))
    const unasked = () => server.call('POST', '/v1/responses', { token: key, body })
    expect(summary(await added(unasked))).toEqual([])

    const cancelled = await waiting()
    const cancel = () => server.call('POST', `/v1/responses/${cancelled}/cancel`, { token: key })
    expect(summary(await added(cancel))).toEqual([])
    for (const [caller, token] of [
      ['page', session],
      ['key', key],
    ] as const) {
      const stopped = await waiting()
      const found = await added(() =>
        server.call('POST', `/api/admin/runs/${stopped}/stop`, { token }),
      )
      expect(found.map(({ action, username }) => [action, username])).toEqual([
        ['run_stopped', 'ada'],
      ])
      expect(await status(stopped)).toBe('stopped')
      note(found, caller)
    }
    upstream.expectDone()
  })

  test('of the command line leaves one entry that names nobody’s account', async () => {
    const commands = ['make-admin', 'make-user', 'end-sessions', 'disable', 'enable']
    for (const command of [...commands, 'reset-second-factor', 'reset-password']) {
      const found = await added(() => administer(server.server.config, [command, 'bob']))
      expect([command, found.length, found[0]?.username]).toEqual([command, 1, null])
      expect(found[0]?.details).toMatchObject({ by: 'command line', account: 'bob' })
      note(found, 'command')
    }
  })

  test('of an administrator who exports the log, and of somebody who signs out, leaves one entry', async () => {
    for (const [caller, bearer] of [
      ['page', session],
      ['key', key],
    ] as const) {
      const headers = { authorization: `Bearer ${bearer}` }
      const exported = await added(() => fetch(`${server.url}/api/admin/audit/file`, { headers }))
      expect(exported.map(({ action, username }) => [action, username])).toEqual([
        ['audit_exported', 'ada'],
      ])
      note(exported, caller)
    }
    const token = await register(server, 'cyd')
    const out = await added(() => server.call('POST', '/api/auth/logout', { token }))
    expect(out.map(({ action, username }) => [action, username])).toEqual([['sign_out', 'cyd']])
    note(out, 'page')
    // Nothing ends.
    expect(await added(() => server.call('POST', '/api/auth/logout', { token: key }))).toEqual([])
  })

  test('of the background, such as an export that is written later, is recorded once, when a person asks for it', async () => {
    const found = await added(async () => {
      const { json } = await server.call('POST', '/api/exports', { token: session, body: {} })
      await expect
        .poll(async () => {
          const path = `/api/exports/${json.data.id}`
          return (await server.call('GET', path, { token: session })).json.data.status
        })
        .toBe('completed')
    })
    expect(found.map(({ action, username }) => [action, username])).toEqual([['exported', 'ada']])
  })

  const outline = (found: Awaited<ReturnType<typeof entries>>) =>
    found.map(({ action, username }) => [action, username])

  test('of somebody who is not signed in leaves one entry with the account that it is about', async () => {
    const body = { username: 'dee', password: 'a good password' }
    const acts: [action: string, work: () => Promise<unknown>][] = [
      ['register', () => server.call('POST', '/api/auth/register', { body })],
      ['sign_in', () => server.call('POST', '/api/auth/login', { body })],
      [
        'sign_in_failed',
        () => server.call('POST', '/api/auth/login', { body: { ...body, password: 'wrong' } }),
      ],
    ]
    for (const [action, work] of acts) {
      const found = await added(work)
      expect(outline(found)).toEqual([[action, 'dee']])
      note(found, 'visitor')
    }
    const cookieOf = ({ headers }: { headers: Headers }): string =>
      headers.get('set-cookie')?.split(';')[0] ?? ''
    const refresh = (cookie: string) =>
      server.call('POST', '/api/auth/refresh', { headers: { cookie } })
    const cookies = { body: { ...body, cookie: true } }
    const first = cookieOf(await server.call('POST', '/api/auth/login', cookies))
    const second = cookieOf(await refresh(first))
    await refresh(second)
    const reused = await added(() => refresh(first))
    expect(outline(reused)).toEqual([['session_reused', 'dee']])
    note(reused, 'visitor')

    const { id } = (await server.call('POST', '/api/auth/login', { body })).json.data.user
    const link = await server.call('POST', `/api/admin/users/${id}/reset-link`, { token: session })
    const reset = await added(() =>
      server.call('POST', '/api/auth/reset', {
        body: { link: link.json.data.token, password: 'another good password' },
      }),
    )
    expect(outline(reset)).toEqual([['password_reset', 'dee']])
    note(reset, 'visitor')
  })

  test('on second factors, sessions and the password of one’s own account leaves one entry, and a key may do none of them', async () => {
    const password = 'a good password'
    const token = await register(server, 'eli')
    const post = (path: string, body: object, bearer = token) =>
      server.call('POST', `/api/auth/${path}`, { token: bearer, body })
    const own = { current_password: password }
    const refused = await added(async () => {
      for (const path of ['totp', 'totp/remove', 'recovery-codes', 'passkeys'])
        expect([path, (await post(path, own, key)).status]).toEqual([path, 403])
      const sessions = await server.call('DELETE', '/api/auth/sessions', { token: key })
      expect(sessions.status).toBe(403)
    })
    expect(refused).toEqual([])
    const { secret } = (await post('totp', own)).json.data
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
    const acts: [action: string, work: () => Promise<{ status: number }>][] = [
      ['second_factor_added', () => post('totp/confirm', { code })],
      ['recovery_codes_created', () => post('recovery-codes', own)],
      ['second_factor_removed', () => post('totp/remove', own)],
      ['sessions_ended', () => server.call('DELETE', '/api/auth/sessions', { token })],
      [
        'account_changed',
        () =>
          server.call('PATCH', '/api/auth/profile', {
            token,
            body: { password: 'another good password', ...own },
          }),
      ],
    ]
    for (const [action, work] of acts) {
      const found = await added(async () =>
        expect([action, (await work()).status]).toEqual([action, 200]),
      )
      expect(outline(found)).toEqual([[action, 'eli']])
      note(found, 'page')
    }
  })

  test('on a waiting call leaves one entry for its link and one for the decision, and a grant one for each call that it lets through', async () => {
    const project = await newProject('Of links')
    async function waiting(token: string) {
      const talk = await server.call('POST', '/api/conversations', {
        token,
        body: { project_id: project },
      })
      upstream.enqueue(turn.toolCalls([write]))
      const stream = await openEvents(
        `${server.url}/api/conversations/${talk.json.data.id}/messages`,
        { token, body: { text: 'Write', stream_mode: 'delta' } },
      )
      const { data } = await stream.next(({ event }) => event === 'approval_required')
      return { run: data.run_id, id: data.approval_id, ended: () => stream.all() }
    }
    for (const [caller, token] of [
      ['page', session],
      ['key', key],
    ] as const) {
      const { id, ended } = await waiting(token)
      let path = ''
      const made = await added(async () => {
        const { json } = await server.call('POST', `/api/approvals/${id}/link`, { token, body: {} })
        path = new URL(json.data.url).pathname
      })
      expect(outline(made)).toEqual([['approval_link_created', 'ada']])
      note(made, caller)
      upstream.enqueue(turn.text('Done.'))
      const found = await added(() => server.call('POST', path, { body: { decision: 'reject' } }))
      expect(outline(found).map(([action]) => action)).toEqual(['approval_decided'])
      note(found, 'link')
      await ended()
    }
    const { run, ended } = await waiting(session)
    upstream.enqueue(turn.text('Done.'))
    const decision = await added(() =>
      server.call('POST', `/api/runs/${run}/approvals`, {
        token: session,
        body: { id_ref: 'w', decision: 'approve' },
      }),
    )
    expect(outline(decision)).toEqual([['approval_decided', 'ada']])
    note(decision, 'page')
    await ended()

    const match = { path: { equals: 'a.txt' }, content: { any: true } }
    await server.call('POST', '/api/grants', {
      token: session,
      body: { scope: 'project', scope_id: project, tool: 'file_write', match, anyway: true },
    })
    upstream.enqueue(turn.toolCalls([write]), turn.text('Done.'))
    const used = await added(async () => {
      const talk = await server.call('POST', '/api/conversations', {
        token: session,
        body: { project_id: project },
      })
      const stream = await openEvents(
        `${server.url}/api/conversations/${talk.json.data.id}/messages`,
        { token: session, body: { text: 'Write', stream_mode: 'delta' } },
      )
      await stream.all()
    })
    expect(outline(used)).toEqual([['grant_used', 'ada']])
    // Nobody asked for it: the run did it for its account.
    expect(used.map(({ details }) => details.by)).toEqual(['run'])
    note(used, 'run')
  })

  test('of single sign-on leaves one entry for each change of the account, and one for the sign-in', async () => {
    let person: { sub: string; [claim: string]: unknown } = {
      sub: '7',
      preferred_username: 'fay',
      groups: ['dev'],
    }
    const issuer = await startRealIssuer(`${PUBLIC}/api/auth/oidc/callback`, () => person)
    issuers.push(issuer)
    const other = await start(
      oidcSettings(issuer.url, {
        admin_groups: ['ops'],
        allowed_groups: ['dev', 'ops', 'staff'],
        groups: { dev: 'Developers' },
        link_by_email: true,
      }),
    )
    const root = await setUp(other)
    await other.call('POST', '/api/admin/groups', { token: root, body: { name: 'Developers' } })
    const actions = async (): Promise<{ action: string; username: string | null }[]> => {
      const { json } = await other.call('GET', '/api/admin/audit?limit=100', { token: root })
      return Entries.parse(json).data.items.filter(({ username }) => username !== 'root')
    }
    const browser = createBrowser()
    await signIn(other, browser)
    person = { ...person, groups: ['ops'] }
    await signIn(other, browser)
    person = { ...person, groups: ['nobody'] }
    await signIn(other, browser)
    const found = (await actions()).toReversed()
    expect(found.map(({ action, username }) => [action, username])).toEqual([
      ['register', 'fay'],
      ['group_member_added', 'fay'],
      ['sign_in', 'fay'],
      ['account_changed', 'fay'],
      ['group_member_removed', 'fay'],
      ['sign_in', 'fay'],
      ['sign_in_failed', null],
    ])
    note(found, 'single sign-on')

    const email = 'ivy@example.org'
    const registered = await other.call('POST', '/api/auth/register', {
      body: { username: 'ivy', password: 'a good password', email },
    })
    const database = await connect(databaseSettings(other.server.config), { log: quiet })
    await database.write((tx) =>
      createStore(database).confirmedAddresses.add(
        tx,
        registered.json.data.user.id,
        email,
        new Date(),
      ),
    )
    await database.close()
    person = { sub: '8', email, email_verified: true, groups: ['staff'] }
    await signIn(other, createBrowser())
    const linked = (await actions()).filter(({ username }) => username === 'ivy').toReversed()
    expect(linked.map(({ action }) => action)).toEqual(['register', 'identity_linked', 'sign_in'])
    note(linked.slice(1), 'single sign-on')
  })

  test('of a command that needs the server to be stopped leaves one entry, too', async () => {
    const { config } = server.server
    const backup = join(mkdtempSync(join(tmpdir(), 'nanoclaw-audited-')), 'backup')
    await server.call('POST', '/api/auth/register', {
      body: { username: 'gus', password: 'a good password' },
    })
    note(await added(() => administer(config, ['create', 'hal'])), 'command')
    const made = await added(() => backUp(config, backup, {}))
    expect(made.map(({ action }) => action)).toEqual(['backup_created'])
    note(made, 'command')
    await server.close()
    const stored = async () => {
      const database = await connect(databaseSettings(config), { log: quiet })
      try {
        return (await createStore(database).audit.list({}, { limit: 100 })).items
      } finally {
        await database.close()
      }
    }
    const offline: [action: AuditAction, work: () => Promise<unknown>][] = [
      ['exported', () => administer(config, ['export-user', 'gus', `${backup}.zip`])],
      ['account_deleted', () => administer(config, ['delete-user', 'gus'])],
      ['keys_rotated', () => administer(config, ['rotate-keys'])],
      ['folders_adopted', () => administer(config, ['adopt'])],
    ]
    for (const [action, work] of offline) {
      const known = new Set((await stored()).map(({ id }) => id))
      await work()
      const found = (await stored()).filter(({ id }) => !known.has(id))
      expect(found.map((entry) => [entry.action, entry.username, entry.details.by])).toEqual([
        [action, null, 'command line'],
      ])
      note(found, 'command')
    }
    const moved = `${backup}-moved.db`
    await move(config, moved, () => {})
    const there = await connect({ dialect: 'sqlite', file: moved }, { log: quiet })
    const acts = (await createStore(there).audit.list({}, { limit: 100 })).items
    await there.close()
    const act = acts.filter(({ action }) => action === 'database_moved')
    expect(act.map(({ username, details }) => [username, details.by])).toEqual([
      [null, 'command line'],
    ])
    note(act, 'command')
    // Replaces the log by that of the backup.
    await restore(config, backup, { keys: {}, isPartial: true })
    const [last] = await stored()
    expect([last?.action, last?.username]).toEqual(['backup_restored', null])
    note(last === undefined ? [] : [last], 'command')
  })

  test('of every kind that the log knows was done by everybody who can do it', () => {
    const expected = AuditAction.options.map((action) => [action, [...CALLERS[action]].sort()])
    const tested = AuditAction.options.map((action) => [
      action,
      [...(done.get(action) ?? [])].sort(),
    ])
    expect(tested).toEqual(expected)
  })
})
