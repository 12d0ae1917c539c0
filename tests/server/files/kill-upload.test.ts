// The server is killed during uploads, then backed up: acknowledged files are complete, and no partial file stays.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import { serverPlace } from '../../support/server/server-process.ts'
import { uploadFile } from '../../support/server/uploads.ts'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-kill-upload-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Sends the beginning of a file and resolves once it is sent; the rest is never sent. */
function beginUpload(url: string): Promise<void> {
  return new Promise((resolve) => {
    const upload = request(`${url}/api/files`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=edge' },
    })
    // The server is killed during the upload.
    upload.on('error', () => undefined)
    upload.write(
      '--edge\r\ncontent-disposition: form-data; name="file"; filename="half.txt"\r\n\r\n',
    )
    upload.write('x'.repeat(500_000), () => resolve())
  })
}

test('after kill -9 during uploads, acknowledged files are intact, no partial file remains, and a backup restores them on a new server', async () => {
  const place = await serverPlace(folder, {})
  const incoming = join(folder, 'data/blobs/incoming')
  /** What is in the folders of processes, beside which stand their locks. */
  const uploads = (): string[] =>
    readdirSync(incoming)
      .filter((name) => !name.endsWith('.lock'))
      .flatMap((name) => readdirSync(join(incoming, name)))
  const acknowledged = new Map<string, string>()
  try {
    for (let round = 0; round < 2; round += 1) {
      const server = await place.start()
      const text = randomBytes(2_000).toString('hex')
      const { status, json } = await uploadFile(server.url, `file-${round}.txt`, text)
      expect(status).toBe(200)
      acknowledged.set(json.data.id, text)
      await beginUpload(server.url)
      await expect.poll(uploads).toHaveLength(1)
      await server.kill('SIGKILL')
    }
    const server = await place.start()
    expect(uploads()).toEqual([])
    for (const [id, text] of acknowledged)
      expect(await (await fetch(`${server.url}/api/files/${id}`)).text()).toBe(text)
    await command('backup', join(folder, 'backup'))
  } finally {
    await place.close()
  }
  rmSync(join(folder, 'data'), { recursive: true })
  await command('restore', join(folder, 'backup'))
  const again = await place.start()
  try {
    for (const [id, text] of acknowledged) {
      const response = await fetch(`${again.url}/api/files/${id}`)
      expect(response.headers.get('etag')).toBe(
        `"${createHash('sha256').update(text).digest('hex')}"`,
      )
      expect(await response.text()).toBe(text)
    }
  } finally {
    await place.close()
  }
})

const command = (name: string, file: string) =>
  promisify(execFile)(process.execPath, [join(inject('serverBuild'), 'main.js'), name, file], {
    cwd: folder,
    env: { ...process.env, NANOCLAW_CONFIG: join(folder, 'config.yml') },
  })
