// A scripted Bot API of Telegram, which gives each update again until it was confirmed three times.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** The token of its bot. */
export const TELEGRAM_TOKEN = `123456:${'a'.repeat(35)}`
type Call = { method: string; body: Record<string, unknown>; result: unknown }

/** How often an update is confirmed before it is not given any more, as if the first confirmations had been lost. */
const CONFIRMATIONS = 3
/** How often it looks for an update while a program waits for one. */
const LOOK_MS = 30

const isEmpty = (result: unknown): boolean => Array.isArray(result) && result.length === 0

/** The parameters of a call: JSON, or a form with files. */
async function bodyOf(type: string | undefined, bytes: Buffer): Promise<Call['body']> {
  if (type?.startsWith('multipart/form-data') !== true)
    return JSON.parse(bytes.toString('utf8') || '{}')
  const headers = { 'content-type': type }
  const form = await new Response(new Uint8Array(bytes), { headers }).formData()
  return Object.fromEntries(form)
}

/** Starts one for a test. */
export async function startBotApi() {
  const api = await startLastingBotApi()
  onTestFinished(() => api.close())
  return api
}

/** Starts one that lasts until it is closed. */
export async function startLastingBotApi() {
  const calls: Call[] = []
  const updates: { update_id: number; [what: string]: unknown }[] = []
  const confirmations = new Map<number, number>()
  /** A status instead of an answer, by method. */
  const refusals = new Map<string, number>()
  /** The contents of files, by the last part of their path. */
  const files = new Map<string, Buffer>()
  /** Until when no file is given. */
  const held = { files: Promise.resolve() }
  let message = 100
  /** What a method answers instead. */
  const answers = new Map<string, unknown>()
  const answer = (method: string, body: Record<string, unknown>): unknown => {
    if (answers.has(method)) return answers.get(method)
    if (method === 'getMe') return { id: 123456, is_bot: true, username: 'nano_bot' }
    if (method === 'sendMessage' || method === 'sendDocument') {
      message += 1
      return { message_id: message, chat: { id: Number(body.chat_id), type: 'private' } }
    }
    return method === 'getUpdates' ? unconfirmed(Number(body.offset ?? 0)) : true
  }
  const confirm = (offset: number): void => {
    for (const { update_id: id } of updates)
      if (id < offset) confirmations.set(id, (confirmations.get(id) ?? 0) + 1)
  }
  const unconfirmed = (offset: number) =>
    updates.filter(
      ({ update_id: id }) => id >= offset || (confirmations.get(id) ?? 0) < CONFIRMATIONS,
    )
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const method = request.url?.split('/').at(-1) ?? ''
      if (request.url?.startsWith('/file/') === true) {
        const file = files.get(method)
        void held.files.then(() => response.writeHead(file === undefined ? 404 : 200).end(file))
        return
      }
      void bodyOf(request.headers['content-type'], Buffer.concat(chunks)).then((body) =>
        take(method, body, response),
      )
    })
  })
  const take = (method: string, body: Call['body'], response: ServerResponse): void => {
    const called: Call = { method, body, result: null }
    calls.push(called)
    if (method === 'getUpdates' && !refusals.has(method)) confirm(Number(body.offset ?? 0))
    const begun = Date.now()
    const respond = () => {
      const isRefused =
        method === 'sendMessage' && body.parse_mode === 'HTML' && refusals.has('HTML')
      const status = isRefused ? 400 : refusals.get(method)
      if (status === undefined) called.result = answer(method, body)
      const isLeft = Date.now() - begun < Number(body.timeout ?? 0) * 1_000
      // Without updates it waits for one, as the real one does.
      if (status === undefined && isEmpty(called.result) && isLeft) {
        if (!response.destroyed) setTimeout(respond, LOOK_MS)
        return
      }
      response.writeHead(status ?? 200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          status === undefined
            ? { ok: true, result: called.result }
            : { ok: false, error_code: status, description: 'refused' },
        ),
      )
    }
    // An update that is given again would be asked for again at once.
    if (method === 'getUpdates') setTimeout(respond, LOOK_MS)
    else respond()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const { port } = server.address() as AddressInfo // never null or a path: the server listens on TCP
  const of = (method: string) => calls.filter((one) => one.method === method)
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    updates,
    refusals,
    answers,
    files,
    held,
    of,
    close,
  }
}
