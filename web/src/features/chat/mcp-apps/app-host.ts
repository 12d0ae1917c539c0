// The page's side of an app of an MCP server: the messages of MCP Apps (2026-01-26). What the app says decides nothing.
import { MAX_MCP_APP_CONTEXT, MCP_APP_PROTOCOL } from '../../../../../server/protocol/mcp-app.ts'
import { fieldsOf, listIn, numberIn, textIn } from '../../../lib/read-json.ts'

/** How a call came to its end: with the result, as its server sent it, or without one, and why. */
export type CallEnd =
  | { result: Readonly<Record<string, unknown>> }
  | { cancelled: { reason: string } }

/** How an app is shown. */
export type DisplayMode = 'inline' | 'fullscreen'

/** What the page does for one app, and what it tells it. */
export interface AppHost {
  html: string
  /** The arguments of the call whose result the app shows. */
  input: Readonly<Record<string, unknown>>
  /** Null while the call runs. */
  end: CallEnd | null
  context(): Readonly<Record<string, unknown>>
  /** The frame is there: the origin of apps can be reached. */
  onReady(): void
  onHeight(pixels: number): void
  /** Puts a text into the message field. @returns whether there is one. */
  onMessage(text: string): boolean
  /** Asks whether to open a page. Resolves to whether it was opened. */
  onLink(url: URL): Promise<boolean>
  /**
   * Calls a tool of the app's server. Resolves with the result as the server sent it, perhaps long after, and rejects with
   * `AppRefusal`. Undefined where calls are not possible.
   */
  onCall?: ((tool: string, input: Readonly<Record<string, unknown>>) => Promise<object>) | undefined
  /** Stores what the app tells the model; '' removes it. Rejects with `AppRefusal`. */
  onContext?: ((text: string) => Promise<void>) | undefined
  /** The app is there; `modes`: in which ways it can be shown, if it has said so. */
  onModes(modes: readonly string[] | null): void
  /** The app would like to be shown in this way. @returns how it is shown now. */
  onMode(mode: string): DisplayMode
  /** The app is over: it asked for its end, or its frame has left for another document. */
  onEnd(): void
}

/** Why a request of an app was not carried out, in words for its reader. */
export class AppRefusal extends Error {}

/** The connection to the app in one frame. */
export interface AppConnection {
  /** Tells the app what has changed of the page. */
  changeContext(changes: Readonly<Record<string, unknown>>): void
  /** Tells the app how the call ended. Only the first counts. */
  endCall(end: CallEnd): void
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
const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603
/** Of the range that JSON-RPC leaves to servers: the request was refused. */
const REFUSED = -32_000

/** What this page does for apps. */
const capabilitiesOf = ({ onCall, onContext }: AppHost) => ({
  openLinks: {},
  message: { text: {} },
  logging: {},
  ...(onCall === undefined ? {} : { serverTools: {} }),
  ...(onContext === undefined ? {} : { updateModelContext: { text: {} } }),
})

/** A request whose parameters are not what its method takes. */
class InvalidParams extends Error {}

/** Hears the frame until it is closed. `frame` is the window of `/proxy.html` at `origin`. */
export function connectApp(
  frame: () => Window | null | undefined,
  origin: string,
  host: AppHost,
): AppConnection {
  let isClosed = false
  let isLoaded = false
  let isInitialized = false
  let left = MAX_MESSAGES
  let since = performance.now()
  let askedAt = Number.NEGATIVE_INFINITY
  let ended: (() => void) | null = null
  let callEnd = host.end

  const post = (message: object): void => {
    // An answer that comes late is for nobody: another document may be in the frame.
    if (!isClosed) frame()?.postMessage({ jsonrpc: '2.0', ...message }, origin)
  }
  const notify = (method: string, params: object): void => post({ method, params })

  const tellEnd = (end: CallEnd): void =>
    'result' in end
      ? notify('ui/notifications/tool-result', end.result)
      : notify('ui/notifications/tool-cancelled', end.cancelled)

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
        host.onModes(modesOf(params.appCapabilities))
        return {
          protocolVersion: MCP_APP_PROTOCOL,
          hostInfo: { name: 'NanoClaw', version: '1' },
          hostCapabilities: capabilitiesOf(host),
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
      case 'tools/call':
        return await host.onCall?.(...callOf(params))
      case 'ui/update-model-context':
        if (host.onContext === undefined) return undefined
        await host.onContext(contextOf(params))
        return {}
      case 'ui/request-display-mode':
        return { mode: host.onMode(textIn(params.mode) ?? '') }
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
        if (callEnd !== null) tellEnd(callEnd)
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
    void answer(method, params).then(
      (result) =>
        post(
          result === undefined
            ? { id, error: { code: METHOD_NOT_FOUND, message: 'Not available in this host' } }
            : { id, result },
        ),
      (error: unknown) => post({ id, error: errorOf(error) }),
    )
  }
  addEventListener('message', hear)
  return {
    changeContext(changes) {
      if (isInitialized) notify('ui/notifications/host-context-changed', changes)
    },
    endCall(end) {
      if (callEnd !== null) return
      callEnd = end
      if (isInitialized) tellEnd(end)
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
    close() {
      isClosed = true
      removeEventListener('message', hear)
    },
  }
}

function errorOf(error: unknown): { code: number; message: string } {
  if (error instanceof InvalidParams) return { code: INVALID_PARAMS, message: error.message }
  if (error instanceof AppRefusal) return { code: REFUSED, message: error.message }
  return { code: INTERNAL_ERROR, message: 'Internal error' }
}

/** The ways in which an app says it can be shown; null if it says nothing. */
function modesOf(capabilities: unknown): string[] | null {
  const { availableDisplayModes: modes } = fieldsOf(capabilities)
  return Array.isArray(modes) ? modes.filter((mode) => typeof mode === 'string') : null
}

/** The tool and the arguments of a call. */
function callOf({
  name,
  arguments: given = {},
}: Readonly<Record<string, unknown>>): [string, Readonly<Record<string, unknown>>] {
  if (typeof name !== 'string' || name === '') throw new InvalidParams('name: a text')
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new InvalidParams('arguments: an object')
  return [name, fieldsOf(given)]
}

/** What an app tells the model: only text. */
function contextOf({ content = [], structuredContent }: Readonly<Record<string, unknown>>): string {
  if (structuredContent !== undefined)
    throw new InvalidParams('structuredContent: not available in this host, which takes text')
  if (!Array.isArray(content)) throw new InvalidParams('content: a list')
  const text = content
    .map((part: unknown) => {
      const { type, text: one } = fieldsOf(part)
      if (type !== 'text' || typeof one !== 'string')
        throw new InvalidParams('content: only parts with text are available in this host')
      return one
    })
    .join('\n\n')
  if (text.length > MAX_MCP_APP_CONTEXT)
    throw new InvalidParams(`content: at most ${MAX_MCP_APP_CONTEXT} characters`)
  return text
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
