// The worker thread that renders Markdown as HTML: some texts take long, and nothing else may wait for them.
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { serveRequests } from '../lib/worker-server.ts'

const EXTENSIONS = [
  gfm(),
  // An image would be fetched from wherever the text says; it becomes a link.
  { disable: { null: ['labelStartImage'] } },
]

// HTML in the text is escaped and unsafe URLs are removed: `allowDangerousHtml` and `allowDangerousProtocol` stay off.
serveRequests((text: string): string =>
  micromark(text, { extensions: EXTENSIONS, htmlExtensions: [gfmHtml()] })
    // In text, `<` is always escaped, so this matches tags only.
    .replaceAll('<a href=', '<a rel="nofollow noopener noreferrer" href='),
)
