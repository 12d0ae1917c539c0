// The page's side of an app of an MCP server: the messages of MCP Apps (2026-01-26). What the app says decides nothing.
import { MCP_APP_PROTOCOL } from '../../../../../server/protocol/mcp-app.ts'
import { fieldsOf, listIn, numberIn, textIn } from '../../../lib/read-json.ts'

/** What the page does for one app, and what it tells it. */
export interface AppHost {
  html: string
  /** The arguments of the call whose result the app shows. */
  input: Readonly<Record<string, unknown>>
  /** The result, as its server sent it. */
  result: Readonly<Record<string, unknown>>
  context(): Readonly<Record<string, unknown>>
  /** The frame is there: the origin of apps can be reached. */
  onReady(): void
  onHeight(pixels: number): void
  /** Puts a text into the message field. @returns whether there is one. */
  onMessage(text: string): boolean
  /** Asks whether to open a page. Resolves to whether it was opened. */
  onLink(url: URL): Promise<boolean>
  /** The app is over: it asked for its end, or its frame has left for another document. */
  onEnd(): void
}

/** The connection to the app in one frame. */
export interface AppConnection {
  /** Tells the app what has changed of the page. */
  changeContext(changes: Readonly<Record<string, unknown>>): void
  /** Lets the app come to an end. Resolves when it has, or after a second. */
  end(): Promise<void>
  close(): void
}

const MAX_MESSAGE = 2_000
const MAX_URL = 2_000
/** Between two texts for the message field, and two links. */
const ASK_EVERY_MS = 1_000
/** Of a frame that sends more, the rest is dropped. */
const MAX_MESSAGES = 200
const WITHIN_MS = 10_000
const END_MS = 1_000
const END_ID = 'nanoclaw-end'

const METHOD_NOT_FOUND = -32_601

/** What this page does for apps. */
const CAPABILITIES = { openLinks: {}, message: { text: {} }, logging: {} }

/** Hears the frame until it is closed. `frame` is the window of `/proxy.html` at `origin`. */
export function connectApp(
  frame: () => Window | null | undefined,
  origin: string,
  host: AppHost,
): AppConnection {
  let isLoaded = false
  let isInitialized = false
  let left = MAX_MESSAGES
  let since = performance.now()
  let askedAt = Number.NEGATIVE_INFINITY
  let ended: (() => void) | null = null

  const post = (message: object): void =>
    frame()?.postMessage({ jsonrpc: '2.0', ...message }, origin)
  const notify = (method: string, params: object): void => post({ method, params })

  const mayAsk = (): boolean => {
    const now = performance.now()
    if (now - askedAt < ASK_EVERY_MS) return false
    askedAt = now
    return true
  }

  /** Undefined for a method that is not known. */
  const answer = async (
    method: string,
    params: Readonly<Record<string, unknown>>,
  ): Promise<object | undefined> => {
    switch (method) {
      case 'ui/initialize':
        return {
          protocolVersion: MCP_APP_PROTOCOL,
          hostInfo: { name: 'NanoClaw', version: '1' },
          hostCapabilities: CAPABILITIES,
          hostContext: host.context(),
        }
      case 'ui/message': {
        const text = textOf(params.content)
        return mayAsk() && text !== '' && host.onMessage(text) ? {} : { isError: true }
      }
      case 'ui/open-link': {
        const url = linkOf(params.url)
        return url !== null && mayAsk() && (await host.onLink(url)) ? {} : { isError: true }
      }
      case 'ui/request-display-mode':
        return { mode: 'inline' }
      case 'ping':
        return {}
      default:
        return undefined
    }
  }

  const hearNotification = (method: string, params: Readonly<Record<string, unknown>>): void => {
    switch (method) {
      case 'ui/notifications/sandbox-proxy-ready':
        // A second document in the frame is not ours.
        if (isLoaded) host.onEnd()
        else {
          isLoaded = true
          host.onReady()
          notify('ui/notifications/sandbox-resource-ready', { html: host.html })
        }
        break
      case 'ui/notifications/initialized':
        if (isInitialized) return
        isInitialized = true
        notify('ui/notifications/tool-input', { arguments: host.input })
        notify('ui/notifications/tool-result', host.result)
        break
      case 'ui/notifications/size-changed': {
        const height = numberIn(params.height)
        if (height !== undefined) host.onHeight(height)
        break
      }
      case 'ui/notifications/request-teardown':
        host.onEnd()
    }
  }

  const hear = ({ source, origin: from, data }: MessageEvent<unknown>): void => {
    if (source === null || source !== frame() || from !== origin) return
    const now = performance.now()
    if (now - since > WITHIN_MS) {
      since = now
      left = MAX_MESSAGES
    }
    left -= 1
    if (left < 0) return
    const message = fieldsOf(data)
    if (message.jsonrpc !== '2.0') return
    const { id } = message
    const method = textIn(message.method)
    if (method === undefined) {
      if (id === END_ID) ended?.()
      return
    }
    const params = fieldsOf(message.params)
    if (typeof id !== 'string' && typeof id !== 'number') {
      hearNotification(method, params)
      return
    }
    void answer(method, params).then((result) =>
      post(
        result === undefined
          ? { id, error: { code: METHOD_NOT_FOUND, message: 'Not available in this host' } }
          : { id, result },
      ),
    )
  }
  addEventListener('message', hear)
  return {
    changeContext(changes) {
      if (isInitialized) notify('ui/notifications/host-context-changed', changes)
    },
    end: () =>
      new Promise((resolve) => {
        if (!isInitialized) {
          resolve()
          return
        }
        ended = resolve
        setTimeout(resolve, END_MS)
        post({ id: END_ID, method: 'ui/resource-teardown', params: {} })
      }),
    close: () => removeEventListener('message', hear),
  }
}

/** The texts of a message; '' if there are none, or too much. */
function textOf(content: unknown): string {
  const text = listIn(Array.isArray(content) ? content : [content])
    .flatMap((part) => {
      const { type, text: one } = fieldsOf(part)
      return type === 'text' && typeof one === 'string' ? [one] : []
    })
    .join('\n\n')
    .trim()
  return text.length > MAX_MESSAGE ? '' : text
}

/** An address on the web; null for every other. */
function linkOf(value: unknown): URL | null {
  const text = textIn(value) ?? ''
  if (text.length > MAX_URL || !URL.canParse(text)) return null
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : null
}
