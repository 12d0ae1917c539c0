// Exports and imports over HTTP: starts a job and waits for its end.
import { unzipSync, zipSync } from 'fflate'
import { beforeAll, expect } from 'vitest'
import { eventually } from '../eventually.ts'
import { register, TEST_JWT_SECRET, type TestServer, useServers } from './server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape, and their assertions check it
type Job = any

async function ended(server: TestServer, path: string, token: string): Promise<Job> {
  return await eventually(async () => {
    const job: Job = (await server.call('GET', path, { token })).json.data
    expect(job.status).toMatch(/completed|failed/)
    return job
  })
}

/** Exports everything, or some conversations, and downloads the archive. @returns its entries by name. */
export async function exportBundle(
  server: TestServer,
  token: string,
  ids?: readonly string[],
): Promise<{ job: Job; bytes: Uint8Array; entries: Record<string, Uint8Array> }> {
  const body = ids === undefined ? undefined : { conversation_ids: ids }
  const created = await server.call('POST', '/api/exports', { token, body })
  expect(created.status, JSON.stringify(created.json)).toBe(200)
  const path = `/api/exports/${created.json.data.id}`
  const job = await ended(server, path, token)
  const response = await fetch(`${server.url}${path}/file`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { job, bytes, entries: job.status === 'completed' ? unzipSync(bytes) : {} }
}

/** Uploads a file to `POST /api/imports`. */
export async function uploadImport(
  server: TestServer,
  token: string,
  { name, content, format }: { name: string; content: Uint8Array | string; format?: string },
): Promise<{ status: number; json: Job }> {
  const form = new FormData()
  if (format !== undefined) form.set('format', format)
  form.set('file', new Blob([typeof content === 'string' ? content : Buffer.from(content)]), name)
  const response = await fetch(`${server.url}/api/imports`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: response.status, json: await response.json() }
}

/** Imports a file and waits for the end. */
export async function importFile(
  server: TestServer,
  token: string,
  file: { name: string; content: Uint8Array | string; format?: string },
): Promise<Job> {
  const { status, json } = await uploadImport(server, token, file)
  expect(status, JSON.stringify(json)).toBe(200)
  return await ended(server, `/api/imports/${json.data.id}`, token)
}

/** A server with a user who imports, and what this user then has. */
export function useImports() {
  const { start } = useServers()
  let server: TestServer
  let token = ''
  beforeAll(async () => {
    server = await start({
      config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, limits: { import: '20MB' } },
    })
    token = await register(server, 'ann')
  })
  const get = async (path: string) => (await server.call('GET', path, { token })).json.data
  return {
    /** Returns the data of an API path. */
    get,
    /** Imports bytes, or a value as JSON; returns the job when it has ended. */
    take: (content: unknown, name = 'export.json') =>
      importFile(server, token, {
        name,
        content: content instanceof Uint8Array ? content : JSON.stringify(content),
      }),
    /** The newest conversation with this title. */
    titled: async (title: string) =>
      (await get(`/api/conversations?q=${encodeURIComponent(title)}`)).items[0],
    /** The messages of the branch that is shown. */
    messagesOf: async (id: string) => (await get(`/api/conversations/${id}/messages`)).items,
    /** Changes a conversation. */
    patch: (id: string, body: object) =>
      server.call('PATCH', `/api/conversations/${id}`, { token, body }),
  }
}

/** A ZIP archive of texts and bytes. */
export const zipOf = (entries: Record<string, unknown>): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(entries).map(([name, content]) => [
        name,
        content instanceof Uint8Array
          ? content
          : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
      ]),
    ),
  )
