// Completes an exported HTML file in the browser: draws its diagrams, and writes its times in the reader's zone. Works on the text of
// the file, because the page's policy would also apply to the styles of a parsed document.
import { diagramImages } from '../../ui/markdown/diagram-images.ts'

/** More diagrams of one conversation stay code. */
const MAX_DIAGRAMS = 100

// As `server/sharing/` writes them. What users write is escaped and never matches.
const TIME = /(<time datetime="([^"]+)">)[^<]*/g
const DIAGRAM = /<pre class="code"[^>]*><code class="language-mermaid">([\s\S]*?)<\/code><\/pre>/g

/** The text that a piece of HTML shows. */
function textOf(html: string): string {
  const decoder = document.createElement('textarea')
  decoder.innerHTML = html.replace(/<[^>]*>/g, '')
  return decoder.value
}

async function drawn(block: string, code: string): Promise<string> {
  const images = await diagramImages(textOf(code))
  if (images === null) return block
  const shown = Object.entries(images).map(
    ([theme, address]) => `<img class="diagram-${theme}" src="${address}" alt="Mermaid">`,
  )
  return `<figure class="diagram">${shown.join('')}<details><summary>Mermaid</summary>${block}</details></figure>`
}

/** The file with diagrams in both themes, above their source. What cannot be drawn stays code. */
export async function completeHtml(file: Blob): Promise<Blob> {
  const source = await file.text()
  const language = /<html lang="([\w-]+)"/.exec(source)?.[1]
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short' })
  const html = source.replace(
    TIME,
    (_whole, tag: string, time: string) => tag + format.format(new Date(time)),
  )
  const parts: string[] = []
  let kept = 0
  for (const found of [...html.matchAll(DIAGRAM)].slice(0, MAX_DIAGRAMS)) {
    parts.push(html.slice(kept, found.index), await drawn(found[0], found[1] ?? ''))
    kept = found.index + found[0].length
  }
  return new Blob([...parts, html.slice(kept)], { type: 'text/html' })
}
