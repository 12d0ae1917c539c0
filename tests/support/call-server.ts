// One JSON request to a server that runs as a process of its own.

/** The envelope of the answer; the assertions look at whatever shape its data has. */
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
): Promise<ServerAnswer> {
  const answer = await fetch(url + path, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const { message, data } = (await answer.json()) as Omit<ServerAnswer, 'status'>
  return { status: answer.status, message, data }
}
