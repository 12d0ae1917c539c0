// The script of the frame that draws diagrams: receives Mermaid source, sends back an SVG image. See ui/markdown/draw-diagram.ts.
import mermaid from 'mermaid'
import type {
  DiagramImage,
  DiagramRequest,
  DiagramResponse,
} from './ui/markdown/diagram-messages.ts'
import { diagramTheme } from './ui/markdown/diagram-theme.ts'

const MAX_SOURCE_CHARACTERS = 50_000
const MAX_EDGES = 500
const GANTT_WIDTH_PX = 800

/** An SVG image cannot use web fonts, so text is measured and drawn in the system's font. */
const FONT = 'system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'

/** Gives the SVG the size of its view box: Mermaid's fills its container, but an image needs its own size. */
function toImage(svg: SVGElement): DiagramImage {
  const [, , width = 0, height = 0] = (svg.getAttribute('viewBox') ?? '')
    .split(/[\s,]+/)
    .map(Number)
  if (!(width > 0 && height > 0)) throw new Error('The diagram is empty.')
  svg.setAttribute('width', String(width))
  svg.setAttribute('height', String(height))
  svg.style.removeProperty('max-width')
  // Labels are HTML, which must be well-formed XML inside an image.
  return { svg: new XMLSerializer().serializeToString(svg), width, height }
}

async function draw({ id, source, dark, colours }: DiagramRequest): Promise<DiagramImage> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    maxTextSize: MAX_SOURCE_CHARACTERS,
    maxEdges: MAX_EDGES,
    fontFamily: FONT,
    theme: 'base',
    // Otherwise it is as wide as the window, and on a phone the dates overlap.
    gantt: { useWidth: GANTT_WIDTH_PX },
    themeVariables: { darkMode: dark, ...diagramTheme(colours) },
  })
  const { svg } = await mermaid.render(`diagram-${id}`, source)
  const holder = document.createElement('div')
  holder.innerHTML = svg
  const element = holder.querySelector('svg')
  if (element === null) throw new Error('The diagram is empty.')
  return toImage(element)
}

/** Queues the drawings: Mermaid measures in the document, where two diagrams at once would disturb each other. */
let last: Promise<unknown> = Promise.resolve()

addEventListener('message', ({ data, source }: MessageEvent<DiagramRequest>) => {
  if (source !== parent) return
  // A sandboxed frame cannot know the page's origin; only its parent receives the message.
  const respond = (message: DiagramResponse): void => parent.postMessage(message, '*')
  last = last.then(async () => {
    try {
      respond({ id: data.id, ...(await draw(data)) })
    } catch (error) {
      respond({ id: data.id, error: error instanceof Error ? error.message : String(error) })
    } finally {
      document.body.replaceChildren()
    }
  })
})
parent.postMessage({ ready: true } satisfies DiagramResponse, '*')
