// The script at the beginning of every document of an app: what the frame and the page tell each other.

/**
 * Reports errors, the console and the height to the page, gives the app `nanoclaw.ask(text)`, and tells it the colours of the
 * page. Storage, which documents without an origin do not have, lasts as long as the document. Without a channel in the
 * address it reports nothing. Of a document that sends more than 100 messages within 10 seconds, the rest is
 * dropped. It is text, because a compiled function could refer to helpers that no frame has.
 */
const SOURCE = String.raw`(() => {
  const channel = /^#c=([\w-]{22})$/.exec(location.hash)?.[1]
  const target = window.parent
  const post = target.postMessage.bind(target)
  let left = 100
  let since = Date.now()
  const send = (message) => {
    if (channel === undefined || target === window) return
    if (Date.now() - since > 10000) {
      left = 100
      since = Date.now()
    }
    left -= 1
    if (left >= 0) post({ ...message, channel }, '*')
  }
  const textOf = (value) => {
    if (typeof value === 'string') return value
    if (value instanceof Error) return value.name + ': ' + value.message
    try {
      return JSON.stringify(value) ?? String(value)
    } catch {
      return String(value)
    }
  }
  const fail = (message, line) => send({ type: 'error', message: message.slice(0, 2000), line })
  addEventListener('error', (event) => {
    if (event instanceof ErrorEvent) fail(String(event.message), event.lineno > 0 ? event.lineno : null)
  })
  addEventListener('unhandledrejection', (event) => fail(textOf(event.reason), null))
  addEventListener('securitypolicyviolation', (event) =>
    send({
      type: 'console',
      level: 'warn',
      text: ('blocked ' + event.effectiveDirective + ': ' + event.blockedURI).slice(0, 2000),
    }),
  )
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) {
    const original = console[level].bind(console)
    console[level] = (...values) => {
      original(...values)
      send({ type: 'console', level, text: values.map(textOf).join(' ').slice(0, 2000) })
    }
  }
  const storage = () => {
    const values = new Map()
    return {
      get length() { return values.size },
      clear: () => values.clear(),
      getItem: (key) => values.get(String(key)) ?? null,
      key: (index) => [...values.keys()][index] ?? null,
      removeItem: (key) => void values.delete(String(key)),
      setItem: (key, value) => void values.set(String(key), String(value)),
    }
  }
  for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { value: storage(), configurable: true })
  const ask = (text) => send({ type: 'ask', text: textOf(text).slice(0, 2000) })
  Object.defineProperty(window, 'nanoclaw', { value: Object.freeze({ ask }) })
  addEventListener('message', ({ source, data }) => {
    if (source !== target || channel === undefined || data?.channel !== channel) return
    if (data.type !== 'theme' || !['light', 'dark'].includes(data.theme)) return
    document.documentElement.dataset.theme = data.theme
    document.documentElement.style.colorScheme = data.theme
    dispatchEvent(new CustomEvent('nanoclaw-theme', { detail: data.theme }))
  })
  send({ type: 'ready' })
  addEventListener('DOMContentLoaded', () => {
    const root = document.documentElement
    new ResizeObserver(() => send({ type: 'size', height: root.scrollHeight })).observe(root)
  })
})()`

/** The script as an element. */
export const BRIDGE = `<script>${SOURCE}</script>`
