// One person of the soak: sends messages until the end, reads fast or slowly, leaves early, and checks what is stored.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

/** How often a client disconnects in the middle of an answer, and how often it reads slowly. */
const LEAVES = 0.15
const READS_SLOWLY = 0.05
/** Messages per conversation; then the person starts another. */
const PER_CONVERSATION = 20
const RETRY_MS = 500
const SLOW_READ_MS = 1_500
/** A conversation may be busy after its client left. */
const BUSY_MS = 200

const Created = z.object({ data: z.object({ id: z.string() }) })
const Page = z.object({
  data: z.object({
    items: z.array(
      z.object({ id: z.string(), role: z.string(), text: z.string(), status: z.string() }),
    ),
  }),
})
const RunStarted = z.object({ user_message_id: z.string(), message_id: z.string() })

export interface Audit {
  sent: number
  completed: number
  failed: number
  missing: number
  wrong: number
  open: number
  left: number
  slow: number
  refused: number
}

export interface SoakChat {
  /** Chats until the soak is over. Never rejects. */
  work(): Promise<void>
  /** Compares what is stored with what was accepted. */
  audit(): Promise<Audit>
}

interface Accepted {
  conversation: string
  question: string
  answer: string
}

/** @param seed makes each person act differently, but the same in every soak. */
export function createSoakChat(
  url: string,
  model: string,
  seed: number,
  state: { isOver: boolean },
): SoakChat {
  let random = seed + 1
  const chance = (): number => {
    random = (random * 48_271) % 2_147_483_647
    return random / 2_147_483_647
  }
  const accepted: Accepted[] = []
  const counts = { left: 0, slow: 0, refused: 0 }

  async function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
    return await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
  }

  /** Sends a message and reads the answer, or leaves. Returns false when the server did not accept it. */
  async function say(conversation: string): Promise<boolean> {
    const leaving = new AbortController()
    const body = { model, text: 'Go on.', stream_mode: 'delta' }
    const response = await post(`/api/conversations/${conversation}/messages`, body, leaving.signal)
    if (response.status === 409) {
      await response.body?.cancel()
      await sleep(BUSY_MS)
      return true
    }
    if (!response.ok || response.body === null) return false
    const leaves = chance() < LEAVES
    const isSlow = !leaves && chance() < READS_SLOWLY
    let head = ''
    let isStored = false
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      if (isStored) {
        if (isSlow) await sleep(SLOW_READ_MS / 10)
        continue
      }
      head += piece
      const data = /event: run\ndata: (.*)\n/.exec(head)?.[1]
      if (data === undefined) continue
      const run = RunStarted.parse(JSON.parse(data))
      accepted.push({ conversation, question: run.user_message_id, answer: run.message_id })
      isStored = true
      if (isSlow) counts.slow += 1
      if (!leaves) continue
      counts.left += 1
      leaving.abort()
      return true
    }
    return true
  }

  async function converse(): Promise<void> {
    const created = Created.parse(await (await post('/api/conversations', {})).json())
    for (let said = 0; said < PER_CONVERSATION && !state.isOver; said += 1)
      if (!(await say(created.data.id))) throw new Error('The server refused a message.')
  }

  return {
    async work() {
      while (!state.isOver) {
        try {
          await converse()
        } catch {
          // Something restarts; messages accepted before are checked at the end.
          if (!state.isOver) counts.refused += 1
          await sleep(RETRY_MS)
        }
      }
    },

    async audit() {
      const audit = {
        sent: accepted.length,
        completed: 0,
        failed: 0,
        missing: 0,
        wrong: 0,
        open: 0,
      }
      const expected = 'word '.repeat(Number(model.split('-')[1]))
      for (const conversation of new Set(accepted.map((one) => one.conversation))) {
        const page = await fetch(`${url}/api/conversations/${conversation}/messages?limit=100`)
        const { items } = Page.parse(await page.json()).data
        const stored = new Map(items.map((message) => [message.id, message]))
        for (const one of accepted.filter((message) => message.conversation === conversation)) {
          const answer = stored.get(one.answer)
          if (answer === undefined || !stored.has(one.question)) audit.missing += 1
          else if (answer.status === 'streaming') audit.open += 1
          else if (answer.status !== 'completed') audit.failed += 1
          else if (answer.text.trimEnd() === expected.trimEnd()) audit.completed += 1
          else audit.wrong += 1
        }
      }
      return { ...audit, ...counts }
    },
  }
}
