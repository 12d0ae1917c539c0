// Where the server is below its host: behind a reverse proxy it may share the host with other programs, at a path of its own.

/**
 * First parts of the server's and the page's own paths. A server below one of them could not tell its path from theirs, because some
 * proxies remove its own before they pass a request on and some do not.
 */
const OWN_PARTS: ReadonlySet<string> = new Set([
  ...['a', 'api', 'assets', 'docs', 'healthz', 'hooks', 'mcp', 'metrics', 'openapi.json', 'readyz'],
  ...['s', 'v', 'v1'],
  ...['admin', 'c', 'continue', 'join', 'login', 'memory', 'projects', 'schedules', 'settings'],
  ...['setup', 'stats', 'waiting'],
])

const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/

/** The path of the public URL without a slash at its end; empty at the top of a host, and without a public URL. */
export const basePathOf = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')

/** Whether a server can be at this path of a host. */
export const isPossibleBase = (path: string): boolean =>
  path === '' || (PATH.test(path) && !OWN_PARTS.has(path.split('/')[1] ?? ''))

/** The URL of a request as the routes know it. Without the base path, it stays as it is: the proxy has removed it. */
export function withoutBase(url: string, basePath: string): string {
  if (!url.startsWith(basePath)) return url
  const rest = url.slice(basePath.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}
