// The page's side of the highlighting worker: one worker, one request at a time per block.

/** Text and its CSS colour (a variable of the theme), or null for the default colour. */
export type Token = [text: string, color: string | null]
/** `block`: the same for all requests of one block of code, which mostly grows between them. */
export type HighlightRequest = { id: number; block: number; code: string; language: string }
/** The lines from `from` on; those before are as in the block's last answer. */
export type HighlightedLines = { from: number; lines: Token[][] }

/** From the worker, with the `id` of the request; null: there are no colours for this language. */
export type HighlightAnswer = { id: number; highlighted: HighlightedLines | null }

/** Longer code stays uncoloured: nobody reads it in a chat, and its elements would cost more than they help. */
const MAX_CODE_CHARACTERS = 60_000

let worker: Worker | null = null
let lastId = 0
let lastBlock = 0
const waiting = new Map<number, (highlighted: HighlightedLines | null) => void>()

const startWorker = (): Worker => {
  const started = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' })
  started.addEventListener('message', (message: MessageEvent<HighlightAnswer>) => {
    waiting.get(message.data.id)?.(message.data.highlighted)
    waiting.delete(message.data.id)
  })
  started.addEventListener('error', () => {
    for (const settle of waiting.values()) settle(null)
    waiting.clear()
  })
  return started
}

const request = (
  block: number,
  code: string,
  language: string,
): Promise<HighlightedLines | null> => {
  worker ??= startWorker()
  const running = worker
  lastId += 1
  const id = lastId
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    running.postMessage({ id, block, code, language } satisfies HighlightRequest)
  })
}

/** Highlights one block of code, again and again while it grows; only its new lines are read and sent. */
export function createHighlighting() {
  lastBlock += 1
  const block = lastBlock
  let known: Token[][] = []
  return {
    /** The code's lines as coloured tokens; null when the language is unknown or the code too long. */
    async highlight(code: string, language: string): Promise<Token[][] | null> {
      if (language === '' || code.length > MAX_CODE_CHARACTERS) return null
      const highlighted = await request(block, code, language)
      if (highlighted === null) return null
      known = [...known.slice(0, highlighted.from), ...highlighted.lines]
      return known
    },
  }
}
