// What a thief of the database finds there of tokens, keys, links and second factors.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { databaseKeys, register, TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'

const databases = useDatabases()
const { start } = useServers()

test('the database contains no password, token, link, second factor or recovery code that could be used, only hashes and sealed texts', async () => {
  const settings = await databases.migrated('sqlite')
  if (settings.dialect !== 'sqlite') throw new Error('not a file')
  const server = await start({
    config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, ...databaseKeys(settings) },
  })
  const token = await register(server, 'ada')
  const post = async (path: string, body: object) => {
    const response = await server.call('POST', path, { body, token })
    expect([path, response.status]).toEqual([path, 200])
    return response
  }
  const password = 'a good password'
  const login = { username: 'ada', password, cookie: true }
  const page = await post('/api/auth/login', login)
  const { key } = (await post('/api/auth/keys', { name: 'laptop' })).json.data
  const invitation = (await post('/api/admin/invitations', {})).json.data.token
  const users = (await server.call('GET', '/api/admin/users', { token })).json.data.items
  const reset = (await post(`/api/admin/users/${users[0].id}/reset-link`, {})).json.data.token
  const { secret } = (await post('/api/auth/totp', { current_password: password })).json.data
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  const codes = (await post('/api/auth/totp/confirm', { code })).json.data.recovery_codes

  const bytes = Buffer.concat(
    [settings.file, `${settings.file}-wal`].map((file) => readFileSync(file)),
  )
  const cookie = page.headers.get('set-cookie')?.split(';')[0]?.split('=')[1] ?? ''
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  // What is stored is found in this way.
  for (const stored of ['ada', sha256(key), sha256(invitation), sha256(reset)])
    expect(bytes.includes(stored)).toBe(true)
  const usable = { password, token, cookie, key, invitation, reset, secret, code: codes[0] }
  for (const [name, text] of Object.entries<string>(usable)) {
    expect([name, text.length > 7]).toEqual([name, true])
    expect([name, bytes.includes(text)]).toEqual([name, false])
  }
})
