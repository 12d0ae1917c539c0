// The worker thread that renders Markdown as HTML. Some texts take long, and nothing else may wait for them.
import { serveRequests } from '../lib/worker-server.ts'
import { markdownHtml } from './markdown-html.ts'
import type { ProseTexts } from './prose-texts.ts'

serveRequests(({ text, texts }: { text: string; texts: ProseTexts }): string =>
  markdownHtml(text, texts),
)
