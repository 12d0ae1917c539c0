// The script of the frame that draws diagrams: receives Mermaid source, sends back an SVG image (ui/markdown/draw-diagram.ts). In a shared
// page, its address holds the source, and it shows the image itself.
import geist from '@fontsource-variable/geist/files/geist-latin-wght-normal.woff2?inline'
import mermaid from 'mermaid'
import { documentColours } from './ui/markdown/diagram-colours.ts'
import type {
  DiagramImage,
  DiagramRequest,
  DiagramResponse,
} from './ui/markdown/diagram-messages.ts'
import { diagramTheme } from './ui/markdown/diagram-theme.ts'

const MAX_SOURCE_CHARACTERS = 50_000
const MAX_EDGES = 500
const GANTT_WIDTH_PX = 800

/** The page's font. An SVG image can load none, so it contains the Latin letters; the system draws all others. */
const FONT =
  '"Geist Diagram", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", system-ui, sans-serif'
const FONT_FACE = `@font-face{font-family:"Geist Diagram";font-weight:100 900;src:url(${geist}) format("woff2")}`

/** Resolves once texts are measured in the font. Never rejects: without it, the image uses the system's. */
async function loadFont(): Promise<void> {
  try {
    // From its bytes: the frame may fetch nothing.
    const bytes = Uint8Array.from(atob(geist.split(',')[1] ?? ''), (letter) => letter.charCodeAt(0))
    const font = new FontFace('Geist Diagram', bytes, { weight: '100 900' })
    document.fonts.add(await font.load())
  } catch (error) {
    console.warn('Diagrams use the font of the system', error)
  }
}
const fontIsLoaded = loadFont()

/** Gives the SVG the size of its view box: Mermaid's fills its container, but an image needs its own size. */
function toImage(svg: SVGElement): DiagramImage {
  const [, , width = 0, height = 0] = (svg.getAttribute('viewBox') ?? '')
    .split(/[\s,]+/)
    .map(Number)
  if (!(width > 0 && height > 0)) throw new Error('The diagram is empty.')
  svg.setAttribute('width', String(width))
  svg.setAttribute('height', String(height))
  svg.style.removeProperty('max-width')
  const style = document.createElementNS('http://www.w3.org/2000/svg', 'style')
  style.textContent = FONT_FACE
  svg.prepend(style)
  // Labels are HTML, which must be well-formed XML inside an image.
  return { svg: new XMLSerializer().serializeToString(svg), width, height }
}

async function draw({ id, source, dark, colours }: DiagramRequest): Promise<DiagramImage> {
  await fontIsLoaded
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

/** Draws what the address holds, in the colours of the reader's system, and tells the page its height. */
async function show(source: string): Promise<void> {
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  // Like the page's: with another one, the browser would fill the frame with white.
  document.documentElement.style.colorScheme = 'light dark'
  const update = async (): Promise<void> => {
    const dark = scheme.matches
    const image = document.createElement('img')
    const drawn = await draw({ id: 0, source, dark, colours: documentColours(dark) })
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn.svg)}`
    image.alt = ''
    image.style.cssText = 'display:block;max-width:100%;height:auto;margin:0 auto'
    await image.decode()
    document.body.style.margin = '0'
    document.body.replaceChildren(image)
    parent.postMessage({ height: image.offsetHeight }, '*')
  }
  scheme.addEventListener('change', () => void update())
  await update()
}

const shown = decodeURIComponent(location.hash.slice(1))
if (shown === '') parent.postMessage({ ready: true } satisfies DiagramResponse, '*')
else
  show(shown).catch(() => {
    // The page shows the source below.
    parent.postMessage({ height: 1 }, '*')
  })
