// Test server with small limits for projects, and the requests that the tests of project routes share.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type TestServer, useServers } from '../../../support/server/server.ts'

/** A project server with its own folder of workspaces. */
export interface ProjectServer {
  readonly url: string
  /** The folder of all workspaces. */
  readonly root: string
  call: TestServer['call']
  /** All paths below `root`. */
  everything(): Promise<string[]>
  createProject(): Promise<string>
  write(id: string, path: string, content: string, more?: object): ReturnType<TestServer['call']>
  /** Uploads a new project; `null` omits the name. */
  upload(name: string | null, files: readonly (readonly [string, string])[]): Promise<Response>
  /** The status of a request whose path is sent unchanged; `fetch` would normalize it. */
  raw(method: string, path: string, body?: string): Promise<number>
  /** The folder of a project, below `root`. */
  folderOf(id: string): Promise<string>
}

/** The URL path of a file of a project. */
export const file = (id: string, path: string): string =>
  `/api/projects/${id}/files/${path.split('/').map(encodeURIComponent).join('/')}`

/** Starts the server before the tests of the file or `describe`, and cleans up afterwards. */
export function useProjectServer(): ProjectServer {
  const servers = useServers()
  let root = ''
  let server: TestServer
  let created = 0
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'routes-'))
    server = await servers.start({
      config: {
        workspace_root: root,
        limits: {
          file_read: '200KB',
          file_write: '300KB',
          project: '1MB',
          upload: '500KB',
          upload_files: 1_200,
        },
      },
    })
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  // Retried when an entry disappears during the read.
  const everything = async (): Promise<string[]> => {
    for (;;) {
      try {
        return await readdir(root, { recursive: true })
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
      }
    }
  }
  return {
    get url() {
      return server.url
    },
    get root() {
      return root
    },
    call: (...request) => server.call(...request),
    everything,
    async createProject() {
      const body = { name: `project ${++created}` }
      return (await server.call('POST', '/api/projects', { body })).json.data.id
    },
    write: (id, path, content, more = {}) =>
      server.call('PUT', file(id, path), { body: { content, ...more } }),
    upload(name, files) {
      const form = new FormData()
      if (name !== null) form.set('name', name)
      for (const [path, content] of files) form.append('files[]', new Blob([content]), path)
      return fetch(`${server.url}/api/projects/upload`, { method: 'POST', body: form })
    },
    raw: (method, path, body) =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(server.url)
        const request = httpRequest(
          { hostname, port, method, path, headers: { 'content-type': 'application/json' } },
          (response) => {
            response.resume()
            resolve(response.statusCode ?? 0)
          },
        )
        request.on('error', reject)
        request.end(body)
      }),
    async folderOf(id) {
      const found = (await everything()).find((path) => path.endsWith(id) && !path.startsWith('.'))
      if (found === undefined) throw new Error(`project ${id} has no folder`)
      return join(root, found)
    },
  }
}
