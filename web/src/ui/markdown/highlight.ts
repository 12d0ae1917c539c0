// The page's side of the highlighting worker: one worker, one request at a time per block.

/** Text and its CSS colour (a variable of the theme), or null for the default colour. */
export type Token = [text: string, color: string | null]
export type HighlightRequest = { id: number; code: string; language: string }
export type HighlightAnswer = { id: number; lines: Token[][] | null }

/** Longer code stays uncoloured: nobody reads it in a chat, and its elements would cost more than they help. */
const MAX_CODE_CHARACTERS = 60_000

let worker: Worker | null = null
let lastId = 0
const waiting = new Map<number, (lines: Token[][] | null) => void>()

const startWorker = (): Worker => {
  const started = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' })
  started.addEventListener('message', (message: MessageEvent<HighlightAnswer>) => {
    waiting.get(message.data.id)?.(message.data.lines)
    waiting.delete(message.data.id)
  })
  started.addEventListener('error', () => {
    for (const settle of waiting.values()) settle(null)
    waiting.clear()
  })
  return started
}

/** The code's lines as coloured tokens; null when the language is unknown or the code too long. */
export function highlight(code: string, language: string): Promise<Token[][] | null> {
  if (language === '' || code.length > MAX_CODE_CHARACTERS) return Promise.resolve(null)
  worker ??= startWorker()
  const running = worker
  lastId += 1
  const id = lastId
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    const request: HighlightRequest = { id, code, language }
    running.postMessage(request)
  })
}
