// The page's side of the highlighting worker: one worker, one request at a time per block.

/** A piece of text and its CSS colour (a variable of the theme), or null for the default colour. */
export type Token = [text: string, color: string | null]
/** `block` is the same for all requests about one block of code, which usually grows between them. */
export type HighlightRequest = { id: number; block: number; code: string; language: string }
/** The lines from index `from` on; earlier lines are the same as in the previous response for the block. */
export type HighlightedLines = { from: number; lines: Token[][] }

/** From the worker, with the `id` of the request; null if it has no grammar for the language. */
export type HighlightResponse = { id: number; highlighted: HighlightedLines | null }

/** Longer code stays uncoloured: nobody reads it in a chat, and its many elements would slow down the page. */
const MAX_CODE_CHARACTERS = 60_000

let worker: Worker | null = null
let lastId = 0
let lastBlock = 0
const pending = new Map<number, (highlighted: HighlightedLines | null) => void>()

const startWorker = (): Worker => {
  const started = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' })
  started.addEventListener('message', (message: MessageEvent<HighlightResponse>) => {
    pending.get(message.data.id)?.(message.data.highlighted)
    pending.delete(message.data.id)
  })
  started.addEventListener('error', () => {
    for (const settle of pending.values()) settle(null)
    pending.clear()
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
    pending.set(id, resolve)
    running.postMessage({ id, block, code, language } satisfies HighlightRequest)
  })
}

/** Creates the highlighting of one block of code. While the code grows, only its new lines are tokenized and sent. */
export function createHighlighting() {
  lastBlock += 1
  const block = lastBlock
  let known: Token[][] = []
  return {
    /** Resolves with the tokens of each line; null if the language is unknown or the code is too long. */
    async highlight(code: string, language: string): Promise<Token[][] | null> {
      if (language === '' || code.length > MAX_CODE_CHARACTERS) return null
      const highlighted = await request(block, code, language)
      if (highlighted === null) return null
      known = [...known.slice(0, highlighted.from), ...highlighted.lines]
      return known
    },
  }
}
