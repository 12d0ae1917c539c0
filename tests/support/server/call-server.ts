// Sends one JSON request to a server that runs as a child process.

/** The response envelope; `data` is unchecked, and the assertions verify its shape. */
export interface ServerAnswer {
  status: number
  message: string
  data: ReturnType<typeof JSON.parse>
}

export async function callServer(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ServerAnswer> {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { message, data } = (await response.json()) as Omit<ServerAnswer, 'status'>
  return { status: response.status, message, data }
}
