// Requests colours for code that may still grow: one request at a time, always for the latest text.
import type { Token } from './highlight.ts'

/** The colouring of one block of code. */
export type Colouring = {
  /** Sets the code to colour. Requests its colours at once, or after the pending request. */
  update(code: string, language: string): void
  /** Stops the requests; the result of a pending one is dropped. */
  cancel(): void
}

/** Creates the colouring of one block. `onLines` receives the tokens of each line after every request. */
export function createColouring({
  highlight,
  pause,
  onLines,
}: {
  /** Resolves with the tokens of each line, or null if there are no colours for this code. */
  highlight: (code: string, language: string) => Promise<Token[][] | null>
  /** Waits between two requests, so that growing code is not coloured at every token. */
  pause: () => Promise<unknown>
  onLines: (lines: Token[][]) => void
}): Colouring {
  let latest: { code: string; language: string } | null = null
  let busy = false
  let cancelled = false

  const work = async (): Promise<void> => {
    busy = true
    while (latest !== null && !cancelled) {
      const requested = latest
      const lines = await highlight(requested.code, requested.language)
      if (cancelled) break
      if (lines !== null && latest.language === requested.language) onLines(lines)
      if (latest === requested) break
      await pause()
    }
    busy = false
  }
  return {
    update(code, language) {
      if (code === '' || (latest?.code === code && latest.language === language)) return
      latest = { code, language }
      if (!busy && !cancelled) void work()
    },
    cancel() {
      cancelled = true
    },
  }
}
