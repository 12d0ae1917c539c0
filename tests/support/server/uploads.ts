// Uploads files as forms.

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
