// The URL of a path of the page, for links that people pass on.

/** @param origin where the request was sent to, for servers without a configured public URL. */
export const pageUrl = (publicUrl: string | undefined, origin: string, path: string): string =>
  `${(publicUrl ?? origin).replace(/\/+$/, '')}${path}`
