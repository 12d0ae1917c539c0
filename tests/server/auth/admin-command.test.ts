// `nanoclaw admin` beside a running server and a stopped one, on both databases.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ADMIN_USAGE, administer } from '../../../server/commands/admin.ts'
import { describeOnEachServer, register, TEST_JWT_SECRET } from '../../support/server/server.ts'

const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, first_administrator: 'link' }

describeOnEachServer('nanoclaw admin', (start) => {
  test('creates the first administrator, resets passwords, and changes accounts of a running server', async () => {
    const server = await start(multi)
    const { config } = server.server
    const admin = (...operands: string[]) => administer(config, operands)
    const tokenIn = (lines: readonly string[] | null) => lines?.at(-1)?.split('#')[1]
    const reset = async (link: string | undefined) =>
      server.call('POST', '/api/auth/reset', { body: { link, password: 'a good password' } })

    const created = await admin('create', 'ada', 'admin')
    const ada = await reset(tokenIn(created))
    expect(ada.json.data.user).toMatchObject({ username: 'ada', role: 'admin' })
    expect((await reset(tokenIn(created))).status).toBe(403)
    await expect(admin('disable', 'ada')).rejects.toMatchObject({ reason: 'last_administrator' })
    await expect(admin('create', 'ADA')).rejects.toMatchObject({ reason: 'user_name_taken' })
    await expect(admin('create', 'a b')).rejects.toMatchObject({ status: 400 })
    await expect(admin('enable', 'nobody')).rejects.toMatchObject({ reason: 'account_not_found' })

    const bob = await register(server, 'bob')
    const statusOf = async (token: string) =>
      (await server.call('GET', '/api/admin/users', { token })).status
    expect(await statusOf(bob)).toBe(403)
    await admin('make-admin', 'bob')
    expect(await statusOf(bob)).toBe(200)
    await admin('end-sessions', 'Bob')
    expect(await statusOf(bob)).toBe(401)
    await admin('disable', 'bob')
    expect(await admin('list')).toEqual(['bob\tadmin\tdisabled\t', 'ada\tadmin\tactive\t'])
    const { items } = (
      await server.call('GET', '/api/admin/audit?action=account_changed', {
        token: ada.json.data.token,
      })
    ).json.data
    expect(items[0].details).toEqual({ account: 'bob', change: 'disable', by: 'command line' })
    expect([await admin('destroy', 'bob'), await admin('disable'), await admin()]).toEqual([
      null,
      null,
      null,
    ])
    expect(ADMIN_USAGE).toContain('reset-password')

    await expect(admin('delete-user', 'bob')).rejects.toThrow(/Stop it first/)
    const cyd = await register(server, 'cyd')
    await server.call('POST', '/api/conversations', { token: cyd, body: { title: 'Talk' } })
    await register(server, 'dan')
    await server.close()
    const file = join(config.data_dir, 'cyd.zip')
    expect(await admin('export-user', 'cyd', file)).toEqual([
      `Wrote ${file}: 1 conversations, 0 projects, 0 attached files.`,
    ])
    expect(statSync(file).size).toBeGreaterThan(0)
    expect(await admin('delete-user', 'cyd', 'hand-over', 'dan')).toEqual([
      'cyd: deleted; data transferred to dan',
    ])
    expect(await admin('delete-user', 'dan', 'keep-data')).toEqual([
      'dan: account disabled and sign-in removed; data kept',
    ])
    expect(await admin('delete', 'bob')).toEqual(['bob: deleted, including all data'])
    await expect(admin('delete', 'ada')).rejects.toMatchObject({ reason: 'last_administrator' })
    expect(await admin('list')).toEqual(['dan\tuser\tdisabled\t', 'ada\tadmin\tactive\t'])
    const wrong = [admin('delete-user', 'dan', 'all'), admin('delete-user', 'dan', 'hand-over')]
    expect(await Promise.all(wrong)).toEqual([null, null])
  })
})
