// Signing in to MCP servers with OAuth, against a scripted authorization server over HTTP.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AppError } from '../../../../server/errors.ts'
import type { WorkClaims } from '../../../../server/lib/work-claims.ts'
import { UserId } from '../../../../server/protocol/ids.ts'
import { refreshTime } from '../../../../server/tools/mcp/oauth/grant.ts'
import { createMcpServers } from '../../../../server/tools/mcp/servers.ts'
import {
  type AuthorizationOptions,
  startProtectedServer,
} from '../../../fixtures/mcp-protected-server.ts'
import { eventually } from '../../../support/eventually.ts'
import { call, memoryGrants, publicWeb, SOMEBODY } from './use-servers.ts'

const SOMEBODY_ELSE = UserId.parse('018f0000-0000-7000-8000-000000000002')
const REDIRECT = 'https://chat.example.org/settings/mcp'

async function start(options: AuthorizationOptions = {}, clientMetadataUrl: string | null = null) {
  const remote = await startProtectedServer(options)
  const grants = memoryGrants()
  const logged: string[] = []
  const held = new Set<string>()
  /** As instances of one installation share them. */
  const claims: WorkClaims = {
    async claim(work) {
      return !held.has(work) && held.add(work) !== undefined
    },
    async finish(work) {
      held.delete(work)
    },
    holds: async (work) => held.has(work),
    isShared: true,
  }
  const open = () => {
    const servers = createMcpServers({
      claims,
      servers: { calendar: { url: remote.url } },
      grants,
      clientMetadataUrl,
      web: publicWeb(),
      prepareImage: async () => null,
      redact: (text) => text,
      identify: async () => undefined,
      log: (message, detail) => void logged.push(JSON.stringify([message, detail])),
      firstPauseMs: 20,
    })
    onTestFinished(() => servers.close())
    return servers
  }
  onTestFinished(() => remote.close())
  const mcp = open()
  await mcp.ready
  const state = (user = SOMEBODY) => mcp.list(user)[0]
  const signIn = async (user = SOMEBODY) => {
    const url = await mcp.signIn(user, 'calendar', REDIRECT)
    await mcp.finishSignIn(user, { state: '', ...remote.signIn(url) })
    return url
  }
  const whoami = (user = SOMEBODY, servers = mcp) =>
    call(servers.tools(user).find(({ name }) => name === 'mcp__calendar__whoami'))
  return { remote, mcp, grants, logged, open, state, signIn, whoami }
}
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof AppError ? error.reason : error),
  )

describe('a server that requires a sign-in', () => {
  test('is offered to those who signed in, each with their own token, also after a restart', async () => {
    const { remote, mcp, open, state, signIn, whoami } = await start()
    expect(state()).toMatchObject({ auth: 'needed', tools: [], reason: 'mcp_sign_in_needed' })
    const url = new URL(await signIn())
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: 'registered-client',
      code_challenge_method: 'S256',
      redirect_uri: REDIRECT,
      resource: remote.url,
      scope: 'tools',
    })
    expect(remote.registrations).toMatchObject([
      { client_name: 'NanoClaw', redirect_uris: [REDIRECT], application_type: 'web' },
    ])
    expect(remote.requests[0]).toMatchObject({ resource: remote.url })
    expect(state()).toMatchObject({ auth: 'connected', state: 'connected' })
    expect(await whoami()).toMatchObject({ success: true, data: 'you' })
    expect(state(SOMEBODY_ELSE)).toMatchObject({ auth: 'needed', tools: [] })
    expect(mcp.tools(SOMEBODY_ELSE)).toEqual([])

    const restarted = open()
    await restarted.ready
    await restarted.prepare(SOMEBODY)
    expect(await whoami(SOMEBODY, restarted)).toMatchObject({ success: true })
    await mcp.signOut(SOMEBODY, 'calendar')
    expect(state()).toMatchObject({ auth: 'needed', tools: [] })
    await restarted.prepare(SOMEBODY)
    expect(restarted.list(SOMEBODY)[0], 'at every instance').toMatchObject({ auth: 'needed' })
  })

  test('may send the user back to a different instance from the one where the sign-in started', async () => {
    const { remote, mcp, open, whoami } = await start()
    const other = open()
    await other.ready
    const back = { state: '', ...remote.signIn(await mcp.signIn(SOMEBODY, 'calendar', REDIRECT)) }
    await other.finishSignIn(SOMEBODY, back)
    expect(await whoami(SOMEBODY, other)).toMatchObject({ success: true })
    await mcp.prepare(SOMEBODY)
    expect(await whoami()).toMatchObject({ success: true })
    expect(await reasonOf(mcp.finishSignIn(SOMEBODY, back))).toBe('mcp_sign_in_unknown')
  })

  test('identifies this installation by its metadata document if there is a public URL', async () => {
    const document = 'https://chat.example.org/api/mcp/client.json'
    const { remote, signIn } = await start({ readsClientMetadata: true }, document)
    expect(new URL(await signIn()).searchParams.get('client_id')).toBe(document)
    expect(remote.registrations).toEqual([])
  })

  test("refuses a state that is unknown, used or another user's, and a different issuer", async () => {
    const { remote, mcp, state } = await start()
    const url = await mcp.signIn(SOMEBODY, 'calendar', REDIRECT)
    const back = { state: '', ...remote.signIn(url) }
    expect(await reasonOf(mcp.finishSignIn(SOMEBODY, { ...back, state: 'guessed' }))).toBe(
      'mcp_sign_in_unknown',
    )
    expect(await reasonOf(mcp.finishSignIn(SOMEBODY_ELSE, back))).toBe('mcp_sign_in_unknown')
    const elsewhere = { ...back, iss: 'https://evil.example.org' }
    expect(await reasonOf(mcp.finishSignIn(SOMEBODY, elsewhere))).toBe('mcp_sign_in_refused')
    expect(await reasonOf(mcp.finishSignIn(SOMEBODY, back))).toBe('mcp_sign_in_unknown')
    expect(remote.requests, 'no code was sent anywhere').toEqual([])
    expect(state()).toMatchObject({ auth: 'needed' })
  })
})

test('a server on the internet cannot make us request private addresses, but a server on the same machine can', async () => {
  let hits = 0
  const inner = createServer((_request, response) => {
    hits += 1
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void inner.close())
  const { port } = inner.address() as AddressInfo // listening on TCP, so never a string or null
  const { remote, mcp, logged } = await start()
  for (const named of [`http://localhost:${port}`, 'http://169.254.169.254']) {
    remote.behaviour.authorizationServer = named
    expect(await reasonOf(mcp.signIn(SOMEBODY, 'calendar', REDIRECT))).toBe(
      'mcp_sign_in_unavailable',
    )
    expect(logged.at(-1)).toContain('not a public address')
  }
  expect(hits).toBe(0)
  remote.behaviour.authorizationServer = `http://127.0.0.1:${port}`
  await reasonOf(mcp.signIn(SOMEBODY, 'calendar', REDIRECT))
  expect(hits).toBeGreaterThan(0)
})

describe('an access token', () => {
  test('is refreshed by one request, however many calls need it', async () => {
    const { remote, signIn, whoami } = await start()
    await signIn()
    remote.tokens.clear()
    const results = await Promise.all([whoami(), whoami(), whoami(), whoami()])
    expect(results.map(({ success }) => success)).toEqual([true, true, true, true])
    expect(remote.requests.filter(({ grant_type: type }) => type === 'refresh_token')).toHaveLength(
      1,
    )
  })

  test('is refreshed by one of several instances, and the others use the new token', async () => {
    const { remote, open, signIn, whoami } = await start()
    await signIn()
    const others = [open(), open()]
    await Promise.all(others.map((other) => other.ready))
    await Promise.all(others.map((other) => other.prepare(SOMEBODY)))
    remote.tokens.clear()
    const results = await Promise.all([whoami(), ...others.map((other) => whoami(SOMEBODY, other))])
    expect(results.map(({ success }) => success)).toEqual([true, true, true])
    expect(remote.requests.filter(({ grant_type: type }) => type === 'refresh_token')).toHaveLength(
      1,
    )
  })

  test('that cannot be refreshed ends the sign-in with one request, and no token is logged', async () => {
    const { remote, grants, logged, signIn, state, whoami } = await start()
    await signIn()
    const token = [...remote.tokens.keys()].join()
    remote.tokens.clear()
    remote.behaviour.refuseRefresh = true
    expect(await whoami()).toMatchObject({ success: false })
    await eventually(() => expect(state()).toMatchObject({ auth: 'needed', tools: [] }))
    expect(await grants.find(SOMEBODY, 'calendar')).toBeUndefined()
    expect(remote.requests.filter(({ grant_type: type }) => type === 'refresh_token')).toHaveLength(
      1,
    )
    expect(logged.join()).not.toMatch(/access-|refresh-|registered-client/)
    expect(token).toMatch(/^access-/)
    remote.behaviour.refuseRefresh = false
    await signIn()
    expect(await whoami()).toMatchObject({ success: true })
  })

  test('that is rejected after a refresh ends the sign-in instead of a loop', async () => {
    const { remote, signIn, state, whoami } = await start()
    await signIn()
    const before = remote.seenTokens.length
    remote.behaviour.rejectAll = true
    expect(await whoami()).toMatchObject({ success: false })
    await eventually(() => expect(state()).toMatchObject({ auth: 'needed' }))
    // The call and the stream of changes, each with the old token and with the refreshed one.
    expect(remote.seenTokens.length - before).toBeLessThanOrEqual(4)
    expect(remote.requests.filter(({ grant_type: type }) => type === 'refresh_token')).toHaveLength(
      1,
    )
  })

  test('is refreshed early, at different times for different users', () => {
    const hour = 3_600
    expect(refreshTime(hour, 0, 0)).toBe(3_540_000)
    expect(refreshTime(hour, 0, 1)).toBe(3_420_000)
    expect(refreshTime(60, 0, 1), 'a short life').toBe(48_000)
    expect(refreshTime(undefined, 0)).toBeNull()
  })
})
