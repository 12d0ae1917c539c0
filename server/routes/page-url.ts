// The URL of a path of the page, for links that people pass on.

/** @param origin the origin to which the request was sent; used if no public URL is configured. */
export const pageUrl = (publicUrl: string | undefined, origin: string, path: string): string =>
  `${(publicUrl ?? origin).replace(/\/+$/, '')}${path}`
