// The types of files by the endings of their names.

const MIME_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  svg: 'image/svg+xml',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  csv: 'text/csv',
  txt: 'text/plain',
  md: 'text/markdown',
  json: 'application/json',
  html: 'text/html',
  xml: 'application/xml',
  pdf: 'application/pdf',
}

/** The type that the ending of a name stands for; `application/octet-stream` for an unknown one. */
export const mimeOf = (path: string): string => {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  return (Object.hasOwn(MIME_TYPES, ending) && MIME_TYPES[ending]) || 'application/octet-stream'
}
