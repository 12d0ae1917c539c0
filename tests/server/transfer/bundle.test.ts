// Bundles of everything that a user owns: exported, and imported by another user, on both databases.
import sharp from 'sharp'
import { beforeAll, expect, test } from 'vitest'
import { cleanName } from '../../../server/files/files.ts'
import { rounds, SEED } from '../../support/random.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { exportBundle, importFile } from '../../support/server/transfers.ts'
import { randomConversation } from '../../support/store/conversations.ts'

/** How many random conversations go out and back. */
const RANDOM = process.env.FAULTS === 'full' ? 5 : 3

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()
const json = (bytes: Uint8Array | undefined) => JSON.parse(text(bytes))

interface Message {
  id: string
  parent_id: string
  attachments: { name: string; sha256?: string }[]
}

/** The conversations of a bundle without what differs between two users, by their original id. */
function comparable(entries: Record<string, Uint8Array>): Record<string, unknown> {
  const found = Object.keys(entries)
    .filter((name) => name.startsWith('conversations/'))
    .map((name) => {
      const { conversation, messages } = json(entries[name])
      const { id, origin, project_id, ...settings } = conversation
      const at = new Map<string, number>(
        messages.map((one: { id: string }, n: number) => [one.id, n]),
      )
      return [
        (origin ?? id).replace('nanoclaw:', ''),
        {
          settings: { ...settings, leaf_id: at.get(settings.leaf_id) ?? null },
          inProject: project_id !== null,
          messages: messages.map((one: Message) => ({
            ...one,
            attachments: one.attachments.map((file) => ({ ...file, name: cleanName(file.name) })),
            id: at.get(one.id),
            parent_id: at.get(one.parent_id) ?? null,
          })),
        },
      ]
    })
  return Object.fromEntries(found)
}

describeOnEachServer('bundles', (start) => {
  let server: TestServer
  let ann = ''
  let bob = ''
  beforeAll(async () => {
    server = await start({ auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET })
    ann = await register(server, 'ann')
    bob = await register(server, 'bob')
  })

  test(`another user imports the same conversations, branches, times and files, and importing again adds nothing (SEED=${SEED})`, async () => {
    const pixel = sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
    const images = [(await pixel.png().toBuffer()).toString('base64')]
    const withFiles: string[] = []
    for (const { random, what } of rounds(RANDOM)) {
      const body = randomConversation(random, images)
      // Decoding an image takes a process: one conversation with attachments says enough.
      if (withFiles.length > 0) for (const message of body.messages) message.attachments = []
      const imported = await server.call('POST', '/api/conversations/import', { token: ann, body })
      expect(imported.status, what).toBe(200)
      if (body.messages.some(({ attachments }) => attachments.length > 0))
        withFiles.push(imported.json.data.id)
    }
    const project = (
      await server.call('POST', '/api/projects', { token: ann, body: { name: 'Travel' } })
    ).json.data
    await server.call('PUT', `/api/projects/${project.id}/files/plans/rome.md`, {
      token: ann,
      body: { content: 'Colosseum at nine' },
    })
    const { id } = (
      await server.call('POST', '/api/conversations', {
        token: ann,
        body: { title: 'In Rome', project_id: project.id, approval: 'auto' },
      })
    ).json.data
    await server.call('PUT', '/api/memory', { token: ann, body: { content: 'Likes figs.\n' } })
    // Attachments that came inside messages move to files in the background. Each look is an export.
    await expect
      .poll(
        async () => {
          const looks = withFiles.map((id) => exportBundle(server, ann, [id]))
          const messages: Message[] = (await Promise.all(looks)).flatMap(
            ({ entries }, at) => json(entries[`conversations/${withFiles[at]}.json`]).messages,
          )
          const attachments = messages.flatMap((message) => message.attachments)
          return attachments.every(({ sha256 }) => sha256 !== undefined)
        },
        { interval: 500 },
      )
      .toBe(true)

    const { job, bytes, entries } = await exportBundle(server, ann)
    expect(job).toMatchObject({ status: 'completed', size: bytes.length, error: null })
    expect(json(entries['manifest.json'])).toMatchObject({
      format: 'nanoclaw',
      version: 2,
      counts: { conversations: RANDOM + 1, projects: 1 },
    })
    expect(text(entries['memory.md'])).toBe('Likes figs.\n')
    expect(text(entries[`projects/${project.id}/files/plans/rome.md`])).toBe('Colosseum at nine')
    expect(json(entries['settings.json']).username).toBe('ann')

    const first = await importFile(server, bob, { name: 'all.zip', content: bytes })
    expect(first, `${first.error} ${server.logged().slice(-3000)}`).toMatchObject({
      status: 'completed',
      format: 'nanoclaw',
      report: { conversations: RANDOM + 1, projects: 1, skipped_total: 0 },
    })
    const after = await exportBundle(server, bob)
    expect(comparable(after.entries)).toEqual(comparable(entries))
    expect(text(after.entries['memory.md'])).toContain('Likes figs. (from outside text)')
    const inRome = (await server.call('GET', '/api/conversations?q=In Rome', { token: bob })).json
      .data.items[0]
    expect(inRome).toMatchObject({ title: 'In Rome', project_name: 'Travel', approval: null })

    for (const token of [bob, ann]) {
      const again = await importFile(server, token, { name: 'all.zip', content: bytes })
      expect(again.report).toMatchObject({ conversations: 0, messages: 0, projects: 0 })
      expect(again.report.skipped.map((one: { reason: string }) => one.reason)).toEqual([
        'import_project_exists',
        ...Array.from({ length: RANDOM + 1 }, () => 'import_already_there'),
      ])
    }
    expect(comparable((await exportBundle(server, bob)).entries)).toEqual(comparable(entries))

    await server.call('DELETE', `/api/conversations/${id}`, { token: ann })
    const trashed = await importFile(server, ann, { name: 'all.zip', content: bytes })
    expect(trashed.report.skipped).toContainEqual(
      expect.objectContaining({ what: 'In Rome', reason: 'import_in_trash' }),
    )
  })

  test('an export of selected conversations contains only these', async () => {
    const cyd = await register(server, 'cyd')
    const create = async (title: string): Promise<string> =>
      (await server.call('POST', '/api/conversations', { token: cyd, body: { title } })).json.data
        .id
    const [one] = [await create('one'), await create('two')]
    const { entries } = await exportBundle(server, cyd, [one])
    expect(Object.keys(entries)).toEqual([`conversations/${one}.json`, 'manifest.json'])
  })

  test("another user's export and its file return 404", async () => {
    const { job } = await exportBundle(server, bob)
    for (const path of [`/api/exports/${job.id}`, `/api/exports/${job.id}/file`])
      expect((await server.call('GET', path, { token: ann })).status).toBe(404)
  })
})
