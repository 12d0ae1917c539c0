// Draws diagrams in a sandboxed frame without an origin: hostile or endless source can break the frame, never the page.
import {
  DIAGRAM_COLOURS,
  type DiagramColours,
  type DiagramImage,
  type DiagramRequest,
  type DiagramResponse,
} from './diagram-messages.ts'

/** Allows for loading the frame's scripts on a slow connection. */
const START_TIMEOUT_MS = 60_000
const DRAW_TIMEOUT_MS = 10_000
/** An idle frame is removed after this time. */
const IDLE_TIMEOUT_MS = 30_000
const MAX_CACHED_DIAGRAMS = 40
const MAX_IMAGE_CHARACTERS = 4_000_000

/** An image, or Mermaid's error; an empty error if there was no response. */
export type Drawn = DiagramImage | { error: string }

type Job = { id: number; key: string; send: (frame: Window) => void; done: (drawn: Drawn) => void }

let frame: HTMLIFrameElement | null = null
let isReady = false
let current: Job | null = null
let lastId = 0
let timer: ReturnType<typeof setTimeout> | undefined
const queue: Job[] = []
const remembered = new Map<string, Drawn>()

/** A CSS colour as `#rrggbb`, because Mermaid's colour library does not support `oklch`. */
function hexOf(colour: string): string {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  const context = canvas.getContext('2d')
  if (context === null) return '#888888'
  context.fillStyle = colour
  context.fillRect(0, 0, 1, 1)
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data
  return `#${[red, green, blue].map((one) => one.toString(16).padStart(2, '0')).join('')}`
}

/** OKLCH hues of the categories of a chart, of which neighbours differ most. Mermaid has twelve. */
const CATEGORY_HUES = [195, 75, 285, 15, 225, 135, 345, 105, 255, 45, 315, 165] as const
/** Lightness and chroma: text in the ink colour is readable on fills, and text in the surface colour on marks. */
const CATEGORY_SHADES = {
  light: { fill: '0.84 0.085', mark: '0.55 0.11' },
  dark: { fill: '0.45 0.085', mark: '0.76 0.1' },
} as const

function themeColours(dark: boolean): DiagramColours {
  const { fill, mark } = CATEGORY_SHADES[dark ? 'dark' : 'light']
  const style = getComputedStyle(document.documentElement)
  const of = (name: keyof typeof DIAGRAM_COLOURS): string =>
    hexOf(style.getPropertyValue(DIAGRAM_COLOURS[name]))
  return {
    surface: of('surface'),
    sunken: of('sunken'),
    ink: of('ink'),
    muted: of('muted'),
    accent: of('accent'),
    accentSoft: of('accentSoft'),
    warn: of('warn'),
    warnSoft: of('warnSoft'),
    fills: CATEGORY_HUES.map((hue) => hexOf(`oklch(${fill} ${hue})`)),
    marks: CATEGORY_HUES.map((hue) => hexOf(`oklch(${mark} ${hue})`)),
  }
}

function removeFrame(): void {
  frame?.remove()
  frame = null
  isReady = false
  removeEventListener('message', onMessage)
}

function startTimer(ms: number, action: () => void): void {
  clearTimeout(timer)
  timer = setTimeout(action, ms)
}

function finishJob(drawn: Drawn): void {
  const job = current
  current = null
  clearTimeout(timer)
  if (job === null) return
  remembered.set(job.key, drawn)
  for (const key of remembered.keys()) {
    if (remembered.size <= MAX_CACHED_DIAGRAMS) break
    remembered.delete(key)
  }
  job.done(drawn)
  next()
}

/** Called when the frame does not respond: it may be in an endless loop. */
function abandonFrame(): void {
  removeFrame()
  finishJob({ error: '' })
}

function onMessage({ data, source }: MessageEvent<DiagramResponse>): void {
  if (frame === null || source !== frame.contentWindow) return
  if ('ready' in data) {
    isReady = true
    next()
  } else if (data.id === current?.id)
    finishJob(
      'svg' in data && data.svg.length > MAX_IMAGE_CHARACTERS
        ? { error: '' }
        : 'svg' in data
          ? { svg: data.svg, width: data.width, height: data.height }
          : { error: data.error },
    )
}

function addFrame(): HTMLIFrameElement {
  const added = document.createElement('iframe')
  added.sandbox.add('allow-scripts')
  added.src = '/diagram.html'
  added.title = 'Diagrams'
  added.tabIndex = -1
  added.setAttribute('aria-hidden', 'true')
  // In the viewport, because browsers throttle frames outside it, but transparent and behind everything.
  added.style.cssText =
    'position:fixed;inset:0;width:100%;height:100%;border:0;opacity:0;pointer-events:none;z-index:-1'
  addEventListener('message', onMessage)
  document.body.append(added)
  return added
}

function next(): void {
  if (current === null) {
    current = queue.shift() ?? null
    if (current === null) {
      startTimer(IDLE_TIMEOUT_MS, removeFrame)
      return
    }
  }
  if (frame === null) {
    frame = addFrame()
    startTimer(START_TIMEOUT_MS, abandonFrame)
  } else if (isReady && frame.contentWindow !== null) {
    startTimer(DRAW_TIMEOUT_MS, abandonFrame)
    current.send(frame.contentWindow)
  }
}

const keyOf = (source: string, dark: boolean): string => `${dark ? 'dark' : 'light'} ${source}`

/** The result of an earlier `drawDiagram` with these arguments, if it is still cached. */
export const drawnBefore = (source: string, dark: boolean): Drawn | undefined =>
  remembered.get(keyOf(source, dark))

/** Draws `source` in the colours of the current theme. Diagrams are drawn one at a time. Never rejects. */
export function drawDiagram(source: string, dark: boolean): Promise<Drawn> {
  const key = keyOf(source, dark)
  const before = remembered.get(key)
  if (before !== undefined) return Promise.resolve(before)
  lastId += 1
  const id = lastId
  return new Promise((done) => {
    queue.push({
      id,
      key,
      done,
      send: (target) => {
        const request: DiagramRequest = { id, source, dark, colours: themeColours(dark) }
        // The sandboxed frame has no origin to name here.
        target.postMessage(request, { targetOrigin: '*' })
      },
    })
    if (current === null) next()
  })
}
