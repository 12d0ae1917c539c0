// Each user has one export and one import at a time, however many requests arrive at once and wherever.

import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { newId } from '../../../server/lib/ids.ts'
import { COMMAND_LINE } from '../../../server/protocol/admin/audit.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import { createTransferJobs } from '../../../server/transfer/jobs.ts'
import { register, TEST_JWT_SECRET, useServers } from '../../support/server/server.ts'
import { exportBundle, uploadImport } from '../../support/server/transfers.ts'

const { start } = useServers()
const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET }

test('of twelve exports at once, one is accepted, and no archive without a row remains', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-exports-'))
  const server = await start({ folder, config: multi })
  const token = await register(server, 'ann')
  const all = await Promise.all(
    Array.from({ length: 12 }, () => server.call('POST', '/api/exports', { token })),
  )
  expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(409)])
  const { entries } = await exportBundle(server, await register(server, 'bob'))
  expect(Object.keys(entries)).toContain('manifest.json')
  // The place is free again once the export has ended.
  await expect
    .poll(async () => (await server.call('POST', '/api/exports', { token })).status)
    .toBe(200)
  await expect
    .poll(
      async () => (await server.call('GET', '/api/exports', { token })).json.data.items[0].status,
    )
    .toBe('completed')
  const files = await readdir(join(folder, 'data'), { recursive: true })
  expect(files.filter((name) => name.endsWith('.zip'))).toHaveLength(2)
})

test('an export is about as large as what its account stores, however often the same file is attached, and replaces the one before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-exports-'))
  const server = await start({ folder, config: multi })
  const token = await register(server, 'ann')
  const raw = { width: 300, height: 300, channels: 3 as const }
  const picture = await sharp(randomBytes(270_000), { raw }).png().toBuffer()
  const attachments = [{ name: 'a.png', mime: 'image/png', data: picture.toString('base64') }]
  const at = new Date().toISOString()
  for (let n = 0; n < 20; n += 1) {
    const message = {
      ...{ id: newId(), parent_id: null, role: 'user', text: 'Look', token_count: 1, model: null },
      ...{ status: 'completed', error: null, created_at: at, attachments, steps: [] },
    }
    const conversation = {
      ...{ title: `Number ${n}`, model: null, system_prompt: null, temperature: null },
      ...{ max_tokens: null, thinking_enabled: false, pinned: false, archived: false },
      ...{ leaf_id: message.id, created_at: at, updated_at: at },
    }
    const body = { format: 'nanoclaw', version: 1, conversation, messages: [message] }
    const imported = await server.call('POST', '/api/conversations/import', { token, body })
    expect(imported.status, JSON.stringify(imported.json)).toBe(200)
  }
  // This is why exports do not count beside what they contain: there is one of each account, for a day.
  for (let n = 0; n < 3; n += 1) {
    const { job } = await exportBundle(server, token)
    expect(job.size).toBeGreaterThan(picture.length)
    expect(job.size).toBeLessThan(picture.length * 1.5)
  }
  const files = await readdir(join(folder, 'data'), { recursive: true })
  expect(files.filter((name) => name.endsWith('.zip'))).toHaveLength(1)
})

test('of two imports at once, one is accepted', async () => {
  const server = await start({ config: multi })
  const token = await register(server, 'ann')
  const file = { name: 'conversations.json', content: '[]', format: 'chatgpt' }
  const both = await Promise.all([
    uploadImport(server, token, file),
    uploadImport(server, token, file),
  ])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('when a job cannot be stored, each of its claims is given back once', async () => {
  const claimed: string[] = []
  const finished: string[] = []
  const fault = new Error('the disk is full')
  // Nothing else is reached.
  const unused = {} as never
  const jobs = createTransferJobs({
    transfers: Object.assign({} as never, {
      list: async () => [],
      create: () => Promise.reject(fault),
    }),
    audit: unused,
    bundle: unused,
    imports: unused,
    folder: tmpdir(),
    claims: {
      claim: async (name) => {
        claimed.push(name)
        return true
      },
      finish: async (name) => {
        finished.push(name)
      },
      holds: async () => true,
      isShared: false,
    },
    announce() {},
    log: { warn() {} },
    now: () => new Date(0),
  })
  await expect(jobs.createExport('ann' as UserId, null, COMMAND_LINE)).rejects.toBe(fault)
  expect(claimed).toHaveLength(2)
  expect(finished.toSorted()).toEqual(claimed.toSorted())
})
