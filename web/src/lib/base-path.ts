// Where the page is below its host: behind a reverse proxy it may share the host with other programs, at a path of its own.

/** The path before all of the page's and the server's, such as `/chat`; empty at the top of the host. The server says it. */
// A worker has no document, and asks the server for nothing.
export const BASE_PATH =
  typeof document === 'undefined' ? '' : (document.documentElement.dataset.base ?? '')

/** A path of the page or the server as the browser needs it. */
export const fromHost = (path: string): string => BASE_PATH + path

/** The path of the open page, as `paths` has it. */
export const pagePath = (): string => location.pathname.slice(BASE_PATH.length)

/** A name in the browser's storage. Pages at other paths of the host have the same storage, so theirs are other names. */
export const storageName = (name: string): string => `nanoclaw${BASE_PATH}.${name}`
