// Uploads files as forms, and packs archives for them.
import { buffer } from 'node:stream/consumers'
import yazl from 'yazl'

export interface Uploaded {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape, and their assertions check it
  json: any
}

/** Uploads one file, to `/api/files` unless `path` names another route. `token` is sent as bearer token. */
export async function uploadFile(
  url: string,
  name: string,
  content: string | Uint8Array,
  {
    token,
    field = 'file',
    path = '/api/files',
  }: { token?: string; field?: string; path?: string } = {},
): Promise<Uploaded> {
  const form = new FormData()
  form.set(field, new Blob([typeof content === 'string' ? content : Buffer.from(content)]), name)
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    body: form,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  })
  return { status: response.status, json: await response.json() }
}

/** A ZIP archive as bytes. */
export async function zipOf(
  files: Record<string, string | Buffer>,
  mode = 0o100644,
): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [path, content] of Object.entries(files))
    zip.addBuffer(Buffer.from(content), path, { mode })
  zip.end()
  return await buffer(zip.outputStream)
}
