// Renders Markdown from anybody as safe HTML, with limits on size and time.
import { createWorkerClient } from '../lib/worker-client.ts'
import { escapeHtml } from './html.ts'

export interface MarkdownRenderer {
  /** Safe HTML of a text: no scripts, images or HTML of its own. A text that is too large or takes too long stays as it is. */
  render(text: string): Promise<string>
  close(): Promise<void>
}

/** Longer texts are shown as they are. */
const MAX_CHARACTERS = 64_000
/** A text can become much longer as HTML (a line of nested quotes). */
const MAX_HTML_CHARACTERS = 1_000_000
const RENDER_TIMEOUT_MS = 3_000
const START_TIMEOUT_MS = 15_000
const IDLE_MS = 30_000

/** A text as it is, for what Markdown cannot show. */
export const plainText = (text: string): string => `<pre class="plain">${escapeHtml(text)}</pre>`

export function createMarkdownRenderer(): MarkdownRenderer {
  const client = createWorkerClient<string, string>('sharing/markdown.child', {
    worker: { resourceLimits: { maxOldGenerationSizeMb: 128 } },
    startTimeoutMs: START_TIMEOUT_MS,
    idleMs: IDLE_MS,
    timeoutError: () => new Error('The text took too long to render'),
  })
  return {
    async render(text) {
      if (text.length > MAX_CHARACTERS) return plainText(text)
      // A slow text ends the thread with everything in it, so a neighbour of such a text gets a second try.
      for (let attempt = 0; attempt < 2; attempt += 1)
        try {
          const html = await client.request(text, { timeoutMs: RENDER_TIMEOUT_MS })
          return html.length > MAX_HTML_CHARACTERS ? plainText(text) : html
        } catch {
          // Shown as plain text instead.
        }
      return plainText(text)
    },
    close: () => client.close(),
  }
}
