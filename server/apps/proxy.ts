// The document between the page and the app of an MCP server: its headers hold the app to what a person has allowed.
import { z } from 'zod'
import { McpAppCsp } from '../protocol/mcp-app.ts'
import { parseJson } from '../protocol/read-json.ts'
import { proxyHeaders } from './headers.ts'
import { PAGE_ORIGIN } from './origin.ts'

/** Where it is at the origin of apps. */
export const PROXY_PATH = '/proxy.html'

/**
 * Stands before everything of the app, but for its doctype. Browsers that do not know `Connection-Allowlist` have nothing else
 * against WebRTC, and some end the process of a document that uses it where it is not allowed.
 */
const WITHOUT_WEBRTC =
  "<script>for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete window[name]; document.currentScript.remove()</script>"

/**
 * Passes messages between the page and the app, which is in a frame without an origin, so that it reaches neither this document
 * nor other apps at this origin. Only the page's own messages are heard, and only those of the frame.
 */
const SCRIPT = `(() => {
  const pages = JSON.parse(document.currentScript.dataset.pages)
  const page = window.parent
  if (page === window) return
  let origin = null
  let frame = null
  const tell = (message) => {
    for (const one of origin === null ? pages : [origin]) page.postMessage(message, one)
  }
  addEventListener('message', ({ source, origin: from, data }) => {
    if (typeof data !== 'object' || data === null || data.jsonrpc !== '2.0') return
    const method = typeof data.method === 'string' ? data.method : ''
    if (source === page && pages.includes(from)) {
      origin = from
      if (method === 'ui/notifications/sandbox-resource-ready') {
        if (frame !== null || typeof data.params?.html !== 'string') return
        frame = document.createElement('iframe')
        frame.setAttribute('sandbox', 'allow-scripts allow-forms')
        frame.setAttribute('allow', '')
        frame.setAttribute('title', document.title)
        const { html } = data.params
        const type = /^\\uFEFF?(?:\\s|<!--[^>]*-->)*<!doctype[^>]*>/i.exec(html.slice(0, 1000))?.[0] ?? ''
        frame.srcdoc = type + ${JSON.stringify(WITHOUT_WEBRTC).replaceAll('<', '\\x3c')} + html.slice(type.length)
        document.body.append(frame)
        return
      }
      if (frame !== null && !method.startsWith('ui/notifications/sandbox-'))
        // The frame has no origin to name.
        frame.contentWindow?.postMessage(data, '*')
    } else if (frame !== null && source === frame.contentWindow) {
      if (!method.startsWith('ui/notifications/sandbox-')) tell(data)
    }
  })
  tell({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} })
})()`

const STYLE =
  'html,body{margin:0;height:100%;overflow:hidden}iframe{border:0;width:100%;height:100%;display:block}'

const Query = z.strictObject({
  csp: z.string().max(40_000).optional(),
  /** The origin of the page that asked for the address. */
  page: z.string().max(300).regex(PAGE_ORIGIN).optional(),
})

/** What the query allows; null for a query that is not as ours are. */
function readQuery(query: unknown): { csp: McpAppCsp; page: string | undefined } | null {
  const fields = Query.safeParse(query)
  if (!fields.success) return null
  const { csp: text = '{}', page } = fields.data
  const csp = McpAppCsp.safeParse(parseJson(text))
  return csp.success ? { csp: csp.data, page } : null
}

/**
 * The document with its headers, by its query; null for a query that asks for anything but encrypted origins.
 * @param ownPages the origins that pages of this server may have, for an address that names none. Only pages of one of these
 * origins may frame it, and are heard. Whoever frames it brings the app, and finds nothing of others here.
 */
export function proxyDocument(
  query: unknown,
  ownPages: readonly string[],
): { html: string; headers: Readonly<Record<string, string>> } | null {
  const read = readQuery(query)
  if (read === null) return null
  const pages = read.page === undefined ? ownPages : [read.page]
  const given = JSON.stringify(pages).replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  return {
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>App</title><style>${STYLE}</style><body><script data-pages="${given}">${SCRIPT}</script></body></html>\n`,
    headers: proxyHeaders({ pages, csp: read.csp }),
  }
}
