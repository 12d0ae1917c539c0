// Measures how long an answer pauses when the instance that performs its run is killed.
import { z } from 'zod'
import type { Contender } from './contenders.ts'

/** An answer of 100 s, which is unfinished when its instance is killed and when another continues it. */
export const UNFINISHED_MODEL = 'paced-3000'
/** Text that the dead instance emitted last may arrive this long after the kill. */
const LAST_TEXT_MS = 2_000
const RunStarted = z.object({ run_id: z.string() })

/**
 * Kills the instance `owner` during an answer, and waits until a client of `other` receives text of the answer again.
 * @returns the seconds in between
 */
export async function failoverSeconds(owner: Contender, other: Contender): Promise<number> {
  const leaving = new AbortController()
  const runId = await startRun(owner, leaving.signal)
  const texts = textTimes(
    `http://127.0.0.1:${other.process.port}/api/runs/${runId}/events?stream_mode=delta`,
    leaving.signal,
  )
  try {
    await texts.next()
    await owner.process.stop()
    const killedAt = performance.now()
    for await (const receivedAt of texts)
      if (receivedAt > killedAt + LAST_TEXT_MS) return (receivedAt - killedAt) / 1000
    throw new Error('The stream of the run ended after its instance was killed.')
  } finally {
    leaving.abort()
  }
}

/** Sends a message, and resolves to the id of its run as soon as the run has started. */
async function startRun(contender: Contender, signal: AbortSignal): Promise<string> {
  const { port, path, body } = await contender.target(UNFINISHED_MODEL)
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
  for await (const line of linesOf(response)) {
    if (!line.startsWith('data: ')) continue
    const started = RunStarted.safeParse(JSON.parse(line.slice(6)))
    if (started.success) return started.data.run_id
  }
  throw new Error(`No run started: status ${response.status}.`)
}

/** The moments (`performance.now`) at which text of an answer arrives. */
async function* textTimes(url: string, signal: AbortSignal): AsyncGenerator<number> {
  for await (const line of linesOf(await fetch(url, { signal })))
    if (line.includes('word ')) yield performance.now()
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  let unfinished = ''
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (unfinished + text).split('\n')
    unfinished = lines.pop() ?? ''
    yield* lines
  }
}
