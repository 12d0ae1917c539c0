// Renders Markdown from anybody as safe HTML, with limits on size and time.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { escapeHtml } from '../lib/escape-html.ts'
import { createWorkerClient } from '../lib/worker-client.ts'
import type { DocumentLanguage } from './document-texts.ts'
import { proseTexts } from './prose-texts.ts'
import type { MarkdownText, RenderRequest } from './render-request.ts'

/** Renders Markdown of exports and shared copies. */
export interface MarkdownRenderer {
  /**
   * Safe HTML of a text: no scripts, images or HTML of its own. A text that is too large or takes too long is shown as
   * plain text.
   * @param language the language of the words that Markdown leaves to the renderer, such as the titles of alerts.
   */
  render(text: string, language: DocumentLanguage): Promise<string>
  close(): Promise<void>
}

/** Longer texts are shown as plain text. */
const MAX_CHARACTERS = 64_000
/** A text can become much longer as HTML (a line of nested quotes). */
const MAX_HTML_CHARACTERS = 1_000_000
const RENDER_TIMEOUT_MS = 3_000
const START_TIMEOUT_MS = 15_000
const IDLE_MS = 30_000
/**
 * Maximum characters of HTML in the cache. Anybody with the link of a share can open it again and again; with the cache, a
 * text that takes long is rendered only once.
 */
const MAX_CACHED_CHARACTERS = 8_000_000
/** A text that could not be rendered, because the machine was busy, is retried after this time. */
const CACHE_TTL_MS = 60 * 60_000

/** A text without Markdown, for what Markdown cannot show. */
export const plainText = (text: string): string => `<pre class="plain">${escapeHtml(text)}</pre>`

/** Renders in a worker thread, which ends when it is idle. Call `close` at the end. */
export function createMarkdownRenderer(): MarkdownRenderer {
  const client = createWorkerClient<RenderRequest, string>('sharing/markdown.child', {
    worker: { resourceLimits: { maxOldGenerationSizeMb: 128 } },
    startTimeoutMs: START_TIMEOUT_MS,
    idleMs: IDLE_MS,
    timeoutError: () => new Error('The text took too long to render'),
  })
  const renderNow = async (source: MarkdownText): Promise<string> => {
    // A slow text ends the thread and all other texts in it, so those get a second attempt, without what may be slow.
    for (const isColoured of [true, false])
      try {
        const request: RenderRequest = { ...source, isColoured }
        const html = await client.request(request, { timeoutMs: RENDER_TIMEOUT_MS })
        if (html.length <= MAX_HTML_CHARACTERS) return html
      } catch {
        // Without colours next, then as plain text.
      }
    return plainText(source.text)
  }
  const rendered = new LRUCache<string, string, MarkdownText>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (html) => html.length + 1,
    ttl: CACHE_TTL_MS,
    fetchMethod: (_key, _stale, { context }) => renderNow(context),
  })
  return {
    async render(text, language) {
      if (text.length > MAX_CHARACTERS) return plainText(text)
      const hash = createHash('sha256').update(text).digest('base64')
      const context = { text, texts: proseTexts[language] }
      return (await rendered.fetch(`${language} ${hash}`, { context })) ?? plainText(text)
    },
    close: () => client.close(),
  }
}
