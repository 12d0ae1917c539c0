// What each scope of an API key opens, for every route of the reference.
import { expect, test } from 'vitest'
import { ApiKeyScope } from '../../../server/protocol/accounts/user.ts'
import {
  type Operation,
  operationsOf,
  type Reference,
} from '../../support/server/schema-requests.ts'
import { register, TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'

const { start } = useServers()

/** Nobody is asked who they are. */
const PUBLIC = new Set([
  'GET /healthz',
  'GET /readyz',
  'GET /api/auth/mode',
  'POST /api/auth/register',
  'POST /api/auth/login',
  'POST /api/auth/login/second-factor',
  'POST /api/auth/passkeys/options',
  'POST /api/auth/passkeys/sign-in',
  'POST /api/auth/refresh',
  'POST /api/auth/links',
  'POST /api/auth/reset',
  'POST /api/auth/forgotten-password',
  'POST /api/auth/confirmations/confirm',
  'GET /api/shared/{token}',
  'GET /api/shared/{token}/files/{id}',
  'GET /api/models',
  'GET /api/tools',
  // Whoever has a link may use it; no key approves a call (approval-links.test.ts).
  'GET /a/{token}',
  'POST /a/{token}',
  // So is the address of a hook.
  'POST /hooks/{token}',
  // A bridge has the token of its channel; no key opens it.
  'POST /api/channels/{id}/incoming',
])
/** Only for somebody who has signed in: a stolen key must not be able to stay. */
const NOT_FOR_KEYS = new Set([
  'POST /api/auth/keys',
  'DELETE /api/auth/sessions',
  'DELETE /api/auth/sessions/{id}',
  'POST /api/auth/totp',
  'POST /api/auth/totp/confirm',
  'POST /api/auth/totp/remove',
  'POST /api/auth/recovery-codes',
  'POST /api/auth/passkeys',
  'POST /api/auth/passkeys/confirm',
  'POST /api/auth/passkeys/{id}/remove',
  'PATCH /api/apps/{id}',
  'PUT /api/mcp/apps/{server}/domains',
])

/** The scopes that open a route. */
function opening({ method, path }: Operation): readonly ApiKeyScope[] {
  if (NOT_FOR_KEYS.has(`${method} ${path}`)) return []
  if (path.startsWith('/v1/')) return ['v1']
  if (path === '/mcp') return ['mcp']
  if (path.startsWith('/api/admin/')) return ['admin']
  return method === 'GET' ? ['read', 'api', 'admin'] : ['api', 'admin']
}

test('a key opens only the routes of its scopes, and no key opens routes that could preserve or extend access', async () => {
  const server = await start({
    config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, public_reference: true },
  })
  const admin = await register(server, 'ada')
  const reference: Reference = JSON.parse(await (await fetch(`${server.url}/openapi.json`)).text())
  // A stream of events has no end to wait for; its scopes are those of any other GET.
  const operations = operationsOf(reference).filter(({ path }) => !path.endsWith('/events'))
  expect(operations.length).toBeGreaterThan(150)
  const outcomes = new Map<string, string[]>()
  for (const scope of ApiKeyScope.options) {
    const body = { name: scope, scopes: [scope] }
    const { key } = (await server.call('POST', '/api/auth/keys', { body, token: admin })).json.data
    const responses = await Promise.all(
      operations.map(async ({ method, path }) => {
        const response = await server.server.app.inject({
          method: method as 'GET', // the reference has no others than `inject` knows
          url: path.replaceAll(/\{[^}]+\}|\*/g, 'x'),
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          // No route accepts it, so that nothing happens where the key is accepted.
          ...(method === 'GET' ? {} : { payload: '{' }),
        })
        return {
          name: `${method} ${path}`,
          refusal: response.statusCode === 403 ? response.body : '',
        }
      }),
    )
    for (const { name, refusal } of responses) {
      const isRefused = /api_key_scope|api_key_not_allowed|permission_error/.test(refusal)
      if (!isRefused) outcomes.set(name, [...(outcomes.get(name) ?? []), scope])
    }
  }
  const wrong = operations.flatMap((operation) => {
    const name = `${operation.method} ${operation.path}`
    const expected = PUBLIC.has(name) ? [...ApiKeyScope.options] : opening(operation)
    const found = outcomes.get(name) ?? []
    return JSON.stringify([...found].sort()) === JSON.stringify([...expected].sort())
      ? []
      : [`${name}: ${found} instead of ${expected}`]
  })
  expect(wrong).toEqual([])
})

test('a misspelled field in a restriction is refused, because ignoring it would restrict less than intended', async () => {
  const server = await start({ config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET } })
  const token = await register(server, 'ada')
  const { id } = (await server.call('GET', '/api/auth/profile', { token })).json.data
  for (const [method, path, body] of [
    ['POST', '/api/auth/keys', { name: 'k', scope: ['read'] }],
    ['POST', '/api/admin/groups', { name: 'g', permissions: { tools: [] } }],
    ['POST', '/api/admin/groups', { name: 'g', quota: { tokens_per_week: 1 } }],
    ['POST', '/api/admin/invitations', { quota: { storage_bytes: 1 } }],
    ['PATCH', `/api/admin/users/${id}`, { disabled: true }],
  ] as const)
    expect((await server.call(method, path, { body, token })).status).toBe(400)
  const groups = await server.call('GET', '/api/admin/groups', { token })
  expect(groups.json.data.items).toEqual([])
})
