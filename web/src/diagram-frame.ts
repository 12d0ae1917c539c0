// The script of the frame that draws diagrams: receives Mermaid source, sends back an SVG image. See ui/markdown/draw-diagram.ts.
import mermaid from 'mermaid'
import type { DiagramRequest, DiagramResponse } from './ui/markdown/diagram-messages.ts'

const MAX_SOURCE_CHARACTERS = 50_000
const MAX_EDGES = 500

/** An SVG image cannot use web fonts, so text is measured and drawn in the system's font. */
const FONT = 'system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'

/** Sets the size from the view box: Mermaid's SVG fills its container, but an image needs its own size. */
function withOwnSize(svg: SVGElement): SVGElement {
  const [, , width = '', height = ''] = (svg.getAttribute('viewBox') ?? '').split(/[\s,]+/)
  if (Number(width) > 0 && Number(height) > 0) {
    svg.setAttribute('width', width)
    svg.setAttribute('height', height)
  }
  svg.style.removeProperty('max-width')
  return svg
}

async function draw({ id, source, dark, colours }: DiagramRequest): Promise<string> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    maxTextSize: MAX_SOURCE_CHARACTERS,
    maxEdges: MAX_EDGES,
    fontFamily: FONT,
    theme: 'base',
    themeVariables: {
      darkMode: dark,
      background: colours.surface,
      primaryColor: colours.accentSoft,
      primaryTextColor: colours.ink,
      primaryBorderColor: colours.accent,
      secondaryColor: colours.sunken,
      tertiaryColor: colours.sunken,
      lineColor: colours.muted,
      edgeLabelBackground: colours.surface,
      textColor: colours.ink,
      noteBkgColor: colours.warnSoft,
      noteTextColor: colours.ink,
      noteBorderColor: colours.warn,
    },
  })
  const { svg } = await mermaid.render(`diagram-${id}`, source)
  const holder = document.createElement('div')
  holder.innerHTML = svg
  const element = holder.querySelector('svg')
  if (element === null) throw new Error('The diagram is empty.')
  // Labels are HTML, which must be well-formed XML inside an image.
  return new XMLSerializer().serializeToString(withOwnSize(element))
}

/** Queues the drawings: Mermaid measures in the document, where two diagrams at once would disturb each other. */
let last: Promise<unknown> = Promise.resolve()

addEventListener('message', ({ data, source }: MessageEvent<DiagramRequest>) => {
  if (source !== parent) return
  // A sandboxed frame cannot know the page's origin; only its parent receives the message.
  const respond = (message: DiagramResponse): void => parent.postMessage(message, '*')
  last = last.then(async () => {
    try {
      respond({ id: data.id, svg: await draw(data) })
    } catch (error) {
      respond({ id: data.id, error: error instanceof Error ? error.message : String(error) })
    } finally {
      document.body.replaceChildren()
    }
  })
})
parent.postMessage({ ready: true } satisfies DiagramResponse, '*')
