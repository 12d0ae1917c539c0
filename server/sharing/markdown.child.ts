// The worker thread that renders Markdown as HTML. Some texts take long, and nothing else may wait for them.
import { serveRequests } from '../lib/worker-server.ts'
import { loadColours, uncoloured } from './code-colours.ts'
import { markdownHtml } from './markdown-html.ts'
import type { RenderRequest } from './render-request.ts'

serveRequests(
  async ({ text, texts, isColoured, hasFrames, sources }: RenderRequest): Promise<string> => {
    const colour = isColoured ? await loadColours(text) : uncoloured
    return markdownHtml(text, { texts, hasFrames, sources, colour })
  },
)
