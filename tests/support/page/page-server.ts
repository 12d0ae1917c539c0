// A server with a scripted provider and helpers for projects, for browser tests.
import { afterAll, beforeAll } from 'vitest'
import { scripted } from '../provider/scripted.ts'
import { startUpstream, type Upstream } from '../provider/upstream.ts'
import { type TestServer, useServers } from '../server/server.ts'
import type { Visitor } from './page.ts'

export interface PageServer {
  readonly upstream: Upstream
  readonly server: TestServer
  /** Creates a project with these text files (path -> content); returns its id. */
  createProject(name: string, files: Record<string, string>): Promise<string>
  /** The text of a project file; undefined if there is no such file. */
  readFile(projectId: string, path: string): Promise<string | undefined>
}

/** One single-user server for all tests of a `describe`; `config` is merged with the scripted model. */
export function usePageServer(visitor: Visitor, config: object = {}): PageServer {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: { ...scripted(upstream), ...config },
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(() => upstream.close())

  return {
    get upstream() {
      return upstream
    },
    get server() {
      return server
    },
    async createProject(name, files) {
      const { json } = await server.call('POST', '/api/projects', { body: { name } })
      for (const [path, content] of Object.entries(files))
        await server.call('PUT', `/api/projects/${json.data.id}/files/${path}`, {
          body: { content },
        })
      return json.data.id
    },
    async readFile(projectId, path) {
      const { json } = await server.call('GET', `/api/projects/${projectId}/files/${path}`)
      return json.data?.content
    },
  }
}
