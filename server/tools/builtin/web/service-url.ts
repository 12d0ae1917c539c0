// The URL of an external service whose address an operator may configure.

/** The configured URL, completed with the default's path if it names only a host. Without a configured URL, the default. */
export function serviceUrl(configured: string | undefined, defaultUrl: string): URL {
  const url = new URL(configured ?? defaultUrl)
  if (url.pathname === '/') url.pathname = new URL(defaultUrl).pathname
  return url
}
