// Uploads files to `/api/files`.

export interface Uploaded {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape, and their assertions check it
  json: any
}

/** Uploads one file. `token` is sent as bearer token. */
export async function uploadFile(
  url: string,
  name: string,
  content: string | Uint8Array,
  { token, field = 'file' }: { token?: string; field?: string } = {},
): Promise<Uploaded> {
  const form = new FormData()
  form.set(field, new Blob([typeof content === 'string' ? content : Buffer.from(content)]), name)
  const response = await fetch(`${url}/api/files`, {
    method: 'POST',
    body: form,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  })
  return { status: response.status, json: await response.json() }
}
