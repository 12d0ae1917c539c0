// Has diagrams drawn by a sandboxed frame without an origin: hostile or endless source costs the frame, never the page.
import {
  DIAGRAM_COLOURS,
  type DiagramAnswer,
  type DiagramColours,
  type DiagramRequest,
} from './diagram-messages.ts'

/** For loading the frame's scripts, on a slow line too; then for one diagram. */
const START_TIMEOUT_MS = 60_000
const DRAW_TIMEOUT_MS = 10_000
/** An idle frame is removed after this time. */
const IDLE_MS = 30_000
const MAX_REMEMBERED = 40
const MAX_IMAGE_CHARACTERS = 4_000_000

/** An SVG image as text, or why there is none. */
export type Drawn = { svg: string } | { error: string }

type Job = { id: number; key: string; send: (frame: Window) => void; done: (drawn: Drawn) => void }

let frame: HTMLIFrameElement | null = null
let isReady = false
let current: Job | null = null
let lastId = 0
let timer: ReturnType<typeof setTimeout> | undefined
const queue: Job[] = []
const remembered = new Map<string, Drawn>()

/** A CSS colour as `#rrggbb`: Mermaid's colour library knows no `oklch`. */
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

function themeColours(): DiagramColours {
  const style = getComputedStyle(document.documentElement)
  const of = (name: keyof DiagramColours): string =>
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
  }
}

function removeFrame(): void {
  frame?.remove()
  frame = null
  isReady = false
  removeEventListener('message', onMessage)
}

function after(ms: number, action: () => void): void {
  clearTimeout(timer)
  timer = setTimeout(action, ms)
}

function settle(drawn: Drawn): void {
  const job = current
  current = null
  clearTimeout(timer)
  if (job === null) return
  remembered.set(job.key, drawn)
  for (const key of remembered.keys()) {
    if (remembered.size <= MAX_REMEMBERED) break
    remembered.delete(key)
  }
  job.done(drawn)
  next()
}

/** The frame does not answer: it may be caught in an endless loop. */
function giveUp(): void {
  removeFrame()
  settle({ error: '' })
}

function onMessage({ data, source }: MessageEvent<DiagramAnswer>): void {
  if (frame === null || source !== frame.contentWindow) return
  if ('ready' in data) {
    isReady = true
    next()
  } else if (data.id === current?.id)
    settle(
      'svg' in data && data.svg.length > MAX_IMAGE_CHARACTERS
        ? { error: '' }
        : 'svg' in data
          ? { svg: data.svg }
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
  // In view, because browsers hold back frames that are not, but behind everything and not to be seen.
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
      after(IDLE_MS, removeFrame)
      return
    }
  }
  if (frame === null) {
    frame = addFrame()
    after(START_TIMEOUT_MS, giveUp)
  } else if (isReady && frame.contentWindow !== null) {
    after(DRAW_TIMEOUT_MS, giveUp)
    current.send(frame.contentWindow)
  }
}

const keyOf = (source: string, dark: boolean): string => `${dark ? 'dark' : 'light'} ${source}`

/** What an earlier call has drawn; undefined if there was none. */
export const drawnBefore = (source: string, dark: boolean): Drawn | undefined =>
  remembered.get(keyOf(source, dark))

/** Draws `source` in the colours of the theme that the page shows. Never rejects. */
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
        const request: DiagramRequest = { id, source, dark, colours: themeColours() }
        // The frame has no origin that could be named here.
        target.postMessage(request, { targetOrigin: '*' })
      },
    })
    if (current === null) next()
  })
}
