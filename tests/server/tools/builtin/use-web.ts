// A web site on loopback and guarded access to it, for tests of the tools that use the web.
import { afterAll, beforeAll } from 'vitest'
import { createAddressRules } from '../../../../server/net/addresses.ts'
import { createGuardedFetch, type GuardedFetch } from '../../../../server/net/guarded-fetch.ts'
import { createPageReader, type PageReader } from '../../../../server/net/page-reader.ts'
import type { ToolDefinition } from '../../../../server/tools/definition.ts'
import { startWebSite, type WebSite } from '../../../support/web-site.ts'
import { runTool } from '../support.ts'

export interface TestWeb {
  readonly site: WebSite
  fetch: GuardedFetch
  pages: PageReader
  /** The URL of a page on the site, with a host name that may be fetched. */
  at(path: string): string
}

/** Starts the site before the tests of the file and closes everything afterwards. */
export function useWeb(): TestWeb {
  let site: WebSite
  const pages = createPageReader()
  const fetch = createGuardedFetch({
    rules: createAddressRules({ allowPrivate: ['site.test'], allowPorts: [80, 443] }),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  beforeAll(async () => {
    site = await startWebSite()
  })
  afterAll(async () => {
    await Promise.all([pages.close(), fetch.close()])
    await site.close()
  })
  return {
    get site() {
      return site
    },
    fetch,
    pages,
    at: (path) => `http://site.test:${site.port}${path}`,
  }
}

/** An HTML page with this body. */
export const html = (body: string, head = ''): string =>
  `<!doctype html><html lang="en"><head><title>A page</title>${head}</head><body>${body}</body></html>`

/** The data of a successful call. @throws the error of a failed call. */
export async function dataOf(
  tool: ToolDefinition,
  args: unknown,
): Promise<Record<string, unknown>> {
  const result = await runTool(tool, args)
  if (!result.success) throw new Error(result.error)
  // Every web tool returns an object.
  return result.data as Record<string, unknown>
}
