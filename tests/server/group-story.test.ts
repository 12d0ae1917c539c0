// One story from the operator's view: from an empty folder to a group of three, with single sign-on, limits and new keys.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { administer } from '../../server/commands/admin.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { openEvents } from '../support/server/events.ts'
import { type TestServer, useServers } from '../support/server/server.ts'
import { createBrowser, startRealIssuer } from '../support/sign-in/issuer.ts'
import { accountOf, PUBLIC, settings, setUp, signIn } from '../support/sign-in/single-sign-on.ts'

const upstream = await useUpstream()
const usage = (tokens: number) => ({
  usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
})

describe('a group of three', () => {
  const { start } = useServers()
  let person: { sub: string; [claim: string]: unknown } = { sub: '' }
  let issuer: Awaited<ReturnType<typeof startRealIssuer>>
  beforeAll(async () => {
    issuer = await startRealIssuer(`${PUBLIC}/api/auth/oidc/callback`, () => person)
  })
  afterAll(() => issuer.close())

  test('signs in through the issuer, keeps to its tools and limits, loses a member in the middle of an answer, and stays signed in when keys change', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-group-'))
    const config = {
      ...settings(issuer.url, { allowed_groups: ['research'], groups: { research: 'Research' } }),
      registration: 'closed',
      titles: 'off',
      models: [{ id: 'scripted', api_url: upstream.url }],
      db_sqlite_file: join(folder, 'nanoclaw.db'),
    }
    let server: TestServer = await start({ config, folder })
    const call = (token: string, method: string, path: string, body?: object) =>
      server.call(method, path, { token, body })

    // The operator: the setup link of the log, a group with tools that its members may use.
    const root = await setUp(server)
    const group = await call(root, 'POST', '/api/admin/groups', {
      name: 'Research',
      tools: ['calculator'],
      quota: { concurrent_runs: 2 },
    })
    expect(group.status).toBe(200)

    // Three people come from the issuer, and nobody else.
    const browsers = new Map<string, ReturnType<typeof createBrowser>>()
    const arrive = async (name: string) => {
      person = { sub: `sub-${name}`, preferred_username: name, groups: ['research'] }
      const browser = createBrowser()
      browsers.set(name, browser)
      await signIn(server, browser)
      const { user, token } = await accountOf(server, browser)
      return { id: String(user.id), token: String(token) }
    }
    const ann = await arrive('ann')
    const ben = await arrive('ben')
    const cyd = await arrive('cyd')
    person = { sub: 'sub-eve', preferred_username: 'eve', groups: ['sales'] }
    expect(await signIn(server)).toContain('oidc_not_allowed')
    const members = await call(root, 'GET', `/api/admin/groups/${group.json.data.id}/members`)
    expect(members.json.data.items).toHaveLength(3)

    const conversationOf = async ({ token }: { token: string }) =>
      (await call(token, 'POST', '/api/conversations', {})).json.data.id
    const ask = async (who: { token: string }) =>
      call(who.token, 'POST', `/api/conversations/${await conversationOf(who)}/messages`, {
        text: 'Go',
        stream: false,
      })

    // The restricted tool: neither offered nor called.
    upstream.enqueue(
      turn.toolCalls([{ name: 'get_current_time', arguments: {} }]),
      turn.text('I may not.'),
    )
    const { message } = (await ask(ann)).json.data
    const result = message.process_steps.find(
      (step: { type: string }) => step.type === 'tool_result',
    )
    expect(JSON.parse(result.content)).toMatchObject({ success: false })
    expect(JSON.stringify(upstream.requests[0]?.body.tools)).not.toContain('get_current_time')

    // Over the limit: refused with the time of its renewal; the others go on.
    await call(root, 'PATCH', `/api/admin/users/${ben.id}`, { quota: { tokens_per_day: 100 } })
    upstream.enqueue(turn.text('Once.', usage(150)))
    expect((await ask(ben)).status).toBe(200)
    expect((await ask(ben)).json).toMatchObject({
      code: 429,
      reason: 'tokens_per_day_used_up',
      params: { renews_at: expect.stringContaining('T00:00:00.000Z') },
    })

    // Disabled in the middle of an answer: the stream ends, the run stops, nothing works any more.
    upstream.enqueue(turn.cut(turn.text('Half of an answer'), 200, 'stall'))
    const path = `/api/conversations/${await conversationOf(cyd)}/messages`
    const stream = await openEvents(server.url + path, {
      token: cyd.token,
      body: { text: 'Go', stream: true },
    })
    const { data: started } = await stream.next(({ data }) => data.run_id !== undefined)
    const disabled = await call(root, 'PATCH', `/api/admin/users/${cyd.id}`, { is_active: false })
    expect(disabled.status).toBe(200)
    await stream.all()
    expect((await call(cyd.token, 'GET', '/api/auth/profile')).status).toBe(401)
    expect((await call(root, 'GET', '/api/admin/runs')).json.data.items).toEqual([])
    expect(started.run_id).toBeDefined()
    person = { sub: 'sub-cyd', preferred_username: 'cyd', groups: ['research'] }
    expect(await signIn(server)).toContain('sign-in-refused=account_disabled')

    // New keys, with the server stopped: whoever was signed in still is, and what was sealed still opens.
    const before = new URL(server.url).port
    await server.close()
    const printed = (await administer(server.server.config, ['rotate-keys']))?.join(' ')
    expect(printed).toContain('new key created, used from the next start')
    server = await start({ config, folder })
    expect((await call(ann.token, 'GET', '/api/auth/profile')).json.data.username).toBe('ann')
    const cookies = browsers.get('ann')?.cookies(server.url.replace(/\d+$/, before)) ?? new Map()
    const cookie = [...cookies]
      .map(([name, value]) => `${name.replace(before, new URL(server.url).port)}=${value}`)
      .join('; ')
    const renewed = await server.call('POST', '/api/auth/refresh', { headers: { cookie } })
    expect(renewed.status).toBe(200)
    upstream.enqueue(turn.text('Still here.'))
    const { json: last } = await ask(ann)
    expect(last.data.run.status).toBe('completed')
    expect(JSON.stringify(last.data.message)).toContain('Still here.')
    expect((await ask(ben)).status).toBe(429)
    const actions = (await call(root, 'GET', '/api/admin/audit?limit=100')).json.data.items.map(
      ({ action }: { action: string }) => action,
    )
    expect(actions).toEqual(
      expect.arrayContaining(['keys_rotated', 'account_changed', 'group_created', 'sign_in']),
    )
  })
})
