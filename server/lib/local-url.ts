// The address of this server as a browser on the same machine opens it.

/** Wildcard addresses, on which a server listens but which no browser opens everywhere, are written as `localhost`. */
export function localUrl(host: string, port: number): string {
  const name = ['0.0.0.0', '::', '[::]'].includes(host) ? 'localhost' : host
  return `http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`
}
