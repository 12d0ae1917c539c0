// A server with a scripted provider for the tests of a browser, with projects to work in.
import { afterAll, beforeAll } from 'vitest'
import type { Visitor } from './page.ts'
import { scripted } from './scripted.ts'
import { type TestServer, useServers } from './server.ts'
import { startUpstream, type Upstream } from './upstream.ts'

export interface PageServer {
  readonly upstream: Upstream
  readonly server: TestServer
  /** Creates a project with text files, by path; returns its id. */
  createProject(name: string, files: Record<string, string>): Promise<string>
  /** The text of a file of a project; undefined where there is none. */
  readFile(projectId: string, path: string): Promise<string | undefined>
}

/** One server for all tests of a `describe`, in single mode, with `config` beside the scripted model. */
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
