// Draws diagrams in a sandboxed frame without an origin: hostile or endless source can break the frame, never the page.
import { fromHost } from '../../lib/base-path.ts'
import { diagramColours } from './diagram-colours.ts'
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

const themeColours = (dark: boolean): DiagramColours => {
  const style = getComputedStyle(document.documentElement)
  return diagramColours((name) => style.getPropertyValue(DIAGRAM_COLOURS[name]), dark)
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
  added.src = fromHost('/diagram.html')
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

/** Draws `source` in `colours`: without them, those of the current theme. Diagrams are drawn one at a time. Never rejects. */
export function drawDiagram(
  source: string,
  dark: boolean,
  colours?: DiagramColours,
): Promise<Drawn> {
  const key = `${colours === undefined ? '' : 'document '}${keyOf(source, dark)}`
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
        const shown = colours ?? themeColours(dark)
        const request: DiagramRequest = { id, source, dark, colours: shown }
        // The sandboxed frame has no origin to name here.
        target.postMessage(request, { targetOrigin: '*' })
      },
    })
    if (current === null) next()
  })
}
