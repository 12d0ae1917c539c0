// An unmodified Firefox through its own WebDriver BiDi. (Playwright needs commands that the ESR does not have.)
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'undici'
import { createReader, end, firstThatExists, type Reader, startAndRead } from './readers.ts'

const program = firstThatExists([
  process.env.FIREFOX_PATH ?? '',
  '/usr/bin/firefox-esr',
  '/usr/bin/firefox',
])

/** The missing Debian package; undefined if Firefox is installed. */
export const missingForFirefox = program === undefined ? 'firefox-esr' : undefined

/** What Firefox sends: the response to a command, or an event. */
type Message = {
  id?: number
  type: 'success' | 'error' | 'event'
  message?: string
  result?: unknown
  method?: string
  params?: { type?: string; level?: string; text?: string | null }
}

export async function startFirefox(): Promise<Reader> {
  const profile = mkdtempSync(join(tmpdir(), 'nanoclaw-firefox-'))
  const { child, found } = await startAndRead(
    program ?? '',
    ['--headless', '--remote-debugging-port=0', '--profile', profile],
    /WebDriver BiDi listening on (ws:\S+)/,
  )
  const socket = new WebSocket(`${found}/session`)
  const faults: string[] = []
  const waiting = new Map<number, (message: Message) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message // every message of the protocol is one
    if (message.id !== undefined) return waiting.get(message.id)?.(message)
    if (message.params?.type === 'javascript' && message.params.level === 'error')
      faults.push(message.params.text ?? '')
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  let count = 0
  const ask = async <Result = unknown>(method: string, params: object): Promise<Result> => {
    const id = ++count
    const answer = await new Promise<Message>((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
    waiting.delete(id)
    if (answer.type === 'error') throw new Error(`${method}: ${answer.message}`)
    return answer.result as Result // the caller names what the command returns
  }
  await ask('session.new', { capabilities: {} })
  await ask('session.subscribe', { events: ['log.entryAdded'] })
  const tree = await ask<{ contexts: { context: string }[] }>('browsingContext.getTree', {})
  const context = tree.contexts[0]?.context
  return createReader({
    open: async (url) =>
      void (await ask('browsingContext.navigate', { context, url, wait: 'complete' })),
    reload: async () => void (await ask('browsingContext.reload', { context, wait: 'complete' })),
    async evaluateText(expression) {
      const { result } = await ask<{ result: { value: string } }>('script.evaluate', {
        expression,
        target: { context },
        awaitPromise: false,
      })
      return result.value
    },
    perform: (actions) => ask('input.performActions', { context, actions }),
    faults: () => faults,
    async close() {
      socket.close()
      await end(child)
      rmSync(profile, { recursive: true, force: true })
    },
  })
}
