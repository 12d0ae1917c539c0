// Requests colours for code that may still grow: one request at a time, always for the newest text.
import type { Token } from './highlight.ts'

/** The requests for one block of code. */
export type Colouring = {
  /** The text to colour from now on. Requested at once, or when the request before it has been answered. */
  want(code: string, language: string): void
  /** Stops: nothing more is requested or handed over, results under way included. */
  cancel(): void
}

/** `onLines` receives the tokens of each line, for the newest text that has been coloured. */
export function createColouring({
  highlight,
  pause,
  onLines,
}: {
  /** Null: there are no colours for this code. */
  highlight: (code: string, language: string) => Promise<Token[][] | null>
  /** The pause between two requests, so that growing code is not coloured at every token. */
  pause: () => Promise<unknown>
  onLines: (lines: Token[][]) => void
}): Colouring {
  let wanted: { code: string; language: string } | null = null
  let busy = false
  let cancelled = false

  const work = async (): Promise<void> => {
    busy = true
    while (wanted !== null && !cancelled) {
      const asked = wanted
      const lines = await highlight(asked.code, asked.language)
      if (cancelled) break
      if (lines !== null && wanted.language === asked.language) onLines(lines)
      if (wanted === asked) break
      await pause()
    }
    busy = false
  }
  return {
    want(code, language) {
      if (code === '' || (wanted?.code === code && wanted.language === language)) return
      wanted = { code, language }
      if (!busy && !cancelled) void work()
    },
    cancel() {
      cancelled = true
    },
  }
}
