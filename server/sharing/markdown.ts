// Renders Markdown from anybody as safe HTML, with limits on size and time.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { escapeHtml } from '../lib/escape-html.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import { atMost } from '../lib/lru-limit.ts'
import { createWorkerClient } from '../lib/worker-client.ts'
import type { UserId } from '../protocol/ids.ts'
import type { DocumentLanguage } from './document-texts.ts'
import { fenceLanguages } from './fence-languages.ts'
import { proseTexts } from './prose-texts.ts'
import type { MarkdownText, RenderRequest } from './render-request.ts'

/** For which document a text is rendered. */
export interface MarkdownOptions {
  /** Of the words that Markdown leaves to the renderer, such as the titles of alerts. */
  language: DocumentLanguage
  /** Whether the document can show diagrams in frames of this server. */
  hasFrames: boolean
  /** The sources that the text cites as `[1]`. */
  sources?: MarkdownText['sources']
}

/** Renders Markdown of exports and shared copies. */
export interface MarkdownRenderer {
  /**
   * Safe HTML of a text: no scripts, images or HTML of its own. A text that is too large or takes too long is shown as
   * plain text.
   * @param owner of the text: a slow one delays only the other texts of its owner.
   */
  render(owner: UserId, text: string, options: MarkdownOptions): Promise<string>
  close(): Promise<void>
}

/** Longer texts are shown as plain text. */
const MAX_CHARACTERS = 64_000
/** A text can become much longer as HTML (a line of nested quotes). */
const MAX_HTML_CHARACTERS = 1_000_000
const RENDER_TIMEOUT_MS = 3_000
/** The first lines of a language compile its grammar, which takes seconds on a slow or busy machine, whatever the text is. */
const COLOUR_TIMEOUT_MS = 15_000
const START_TIMEOUT_MS = 15_000
const IDLE_MS = 30_000
/**
 * Maximum characters of HTML in the cache. Anybody with the link of a share can open it again and again; with the cache, a
 * text that takes long is rendered only once.
 */
const MAX_CACHED_CHARACTERS = 8_000_000
/** A text that took too long is shown as plain text, or without the colours of code, for this time, and then tried again. */
const SLOW_FOR_MS = 5 * 60_000
const MAX_SLOW = 10_000
/** Threads, each with one text at a time; a user has one of them at most. */
const THREADS = 2

/** A text without Markdown, for what Markdown cannot show. */
export const plainText = (text: string): string => `<pre class="plain">${escapeHtml(text)}</pre>`

interface Rendering {
  owner: UserId
  source: MarkdownText
}

/**
 * Renders in worker threads, which end when they are idle. Call `close` at the end.
 * @param createClient opens a thread; tests pass their own.
 */
export function createMarkdownRenderer(
  createClient: typeof createWorkerClient<RenderRequest, string> = createWorkerClient,
): MarkdownRenderer {
  const clients = Array.from({ length: THREADS }, () =>
    createClient('sharing/markdown.child', {
      worker: { resourceLimits: { maxOldGenerationSizeMb: 128 } },
      startTimeoutMs: START_TIMEOUT_MS,
      idleMs: IDLE_MS,
      timeoutError: () => new Error('The text took too long to render'),
    }),
  )
  const free = [...clients]
  const queue = createFairQueue({ size: THREADS, perOwner: 1 })
  /** Texts that took too long, by language, frames and hash. */
  const slow = new LRUCache<string, true>({ ...atMost(MAX_SLOW), ttl: SLOW_FOR_MS })

  /** The HTML; null if the text takes too long or becomes too long. A slow text ends its thread, and no other text is in it. */
  const attempt = async (
    source: MarkdownText,
  ): Promise<{ html: string; lacksColours: boolean } | null> => {
    const client = free.pop()
    if (client === undefined) throw new Error('more texts than threads')
    const html = async (isColoured: boolean, timeoutMs: number): Promise<string | null> => {
      const request: RenderRequest = { ...source, isColoured }
      // It fails by taking too long, or too much memory.
      const found = await client.request(request, { timeoutMs }).catch(() => null)
      return found === null || found.length > MAX_HTML_CHARACTERS ? null : found
    }
    try {
      const plain = await html(false, RENDER_TIMEOUT_MS)
      if (plain === null) return null
      if (fenceLanguages(source.text).size === 0) return { html: plain, lacksColours: false }
      // Only a text that is not slow itself gets the time for its colours.
      const coloured = await html(true, COLOUR_TIMEOUT_MS)
      return coloured === null
        ? { html: plain, lacksColours: true }
        : { html: coloured, lacksColours: false }
    } finally {
      free.push(client)
    }
  }
  const rendered = new LRUCache<string, string, Rendering>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (html) => html.length + 1,
    fetchMethod: async (key, _stale, { options, context: { owner, source } }) => {
      const found = await queue.run(owner, () => attempt(source))
      if (found?.lacksColours === true) options.ttl = SLOW_FOR_MS
      if (found !== null) return found.html
      // Plain text is no rendering: it is not cached as one.
      slow.set(key, true)
      return undefined
    },
  })
  return {
    async render(owner, text, { language, hasFrames, sources = [] }) {
      if (text.length > MAX_CHARACTERS) return plainText(text)
      const hash = createHash('sha256')
        .update(JSON.stringify([sources, text]))
        .digest('base64')
      const key = `${language} ${hasFrames} ${hash}`
      if (slow.has(key)) return plainText(text)
      const context = { owner, source: { text, texts: proseTexts(language), hasFrames, sources } }
      return (await rendered.fetch(key, { context })) ?? plainText(text)
    },
    async close() {
      for (const client of clients) await client.close()
    },
  }
}
