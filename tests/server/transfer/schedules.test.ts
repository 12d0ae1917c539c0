// Schedules in bundles: exported without secrets, imported switched off, and never free to do more than they were.
import { beforeAll, expect, test } from 'vitest'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { exportBundle, importFile } from '../../support/server/transfers.ts'

const upstream = await useUpstream()

describeOnEachServer('schedules in bundles', (start) => {
  let server: TestServer
  let ann = ''
  let bob = ''
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
    })
    ann = await register(server, 'ann')
    bob = await register(server, 'bob')
  })
  const call = async (token: string, method: string, path: string, body?: unknown) =>
    (await server.call(method, path, { token, ...(body === undefined ? {} : { body }) })).json.data

  test('an account takes its schedules along: they are off, in the imported project, and importing again adds none', async () => {
    const project = await call(ann, 'POST', '/api/projects', { name: 'Prices' })
    await call(ann, 'POST', '/api/schedules', {
      name: 'Prices',
      text: 'Look at the list.',
      when: { cron: '30 8 * * 1-5', tz: 'Europe/Berlin' },
      project_id: project.id,
      model: 'scripted',
      quiet: true,
      watch: { files: '*.md' },
      checks: [{ file: 'report.md', is: 'changed' }],
      limits: { minutes: 5 },
      notify: ['push'],
    })
    const { hook_url } = await call(ann, 'POST', '/api/schedules', {
      name: 'Deployed',
      text: 'Say what is new.',
      when: { hook: true },
      hook_secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    })
    const { bytes, entries } = await exportBundle(server, ann)
    const written = Buffer.from(entries['schedules.json'] ?? []).toString()
    expect(JSON.parse(written)).toHaveLength(2)
    for (const secret of [hook_url.split('/hooks/')[1], 'whsec_', 'hash'])
      expect(written).not.toContain(secret)

    const { report } = await importFile(server, bob, { name: 'all.zip', content: bytes })
    expect(report.skipped).toEqual([])
    const { items } = await call(bob, 'GET', '/api/schedules')
    const [theirs] = (await call(bob, 'GET', '/api/projects')).items
    expect(theirs.name).toBe('Prices')
    const byName = (name: string) => items.find((one: { name: string }) => one.name === name)
    expect(items).toHaveLength(2)
    expect(byName('Prices')).toMatchObject({
      text: 'Look at the list.',
      when: { cron: '30 8 * * 1-5', tz: 'Europe/Berlin' },
      project_id: theirs.id,
      model: 'scripted',
      quiet: true,
      watch: { files: '*.md' },
      checks: [{ file: 'report.md', is: 'changed' }],
      limits: { minutes: 5 },
      notify: ['push'],
      enabled: false,
      next_at: null,
    })
    expect(byName('Deployed')).toMatchObject({
      enabled: false,
      signed: false,
      when: { hook: true },
    })

    const again = await importFile(server, bob, { name: 'all.zip', content: bytes })
    expect(again.report.skipped.map(({ reason }: { reason: string }) => reason).toSorted()).toEqual(
      ['import_already_there', 'import_already_there', 'import_project_exists'],
    )
    expect((await call(bob, 'GET', '/api/schedules')).items).toHaveLength(2)
  })
})
