// Turns files of projects into documents of frames: HTML as it is, other kinds within a document of ours.
import { escapeHtml } from '../lib/escape-html.ts'
import { BRIDGE } from './bridge.ts'

/** Byte order mark, comments and white space before the type of a document, which must precede our script to count. */
const DOCTYPE = /^(?:\xef\xbb\xbf)?(?:[\t\n\f\r ]|<!--(?:(?!-->)[\s\S])*-->)*<!doctype[^>]*>/i
/** A declaration is at the beginning. */
const DECLARED_WITHIN = 4_096

/** The HTML with our script before everything else that runs. Its text stays as bytes: it may have megabytes. */
export function htmlDocument(bytes: Buffer): Buffer {
  const type = DOCTYPE.exec(bytes.toString('latin1', 0, DECLARED_WITHIN))?.[0].length ?? 0
  return Buffer.concat([bytes.subarray(0, type), Buffer.from(BRIDGE), bytes.subarray(type)])
}

const STYLE = `:root{color-scheme:light dark}
:root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark}
body{margin:0;font:16px/1.5 system-ui,sans-serif;color:CanvasText;background:Canvas}`

const page = (style: string, body: string): string =>
  `<!doctype html>${BRIDGE}<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>${STYLE}${style}</style>${body}`

/** An image that may have scripts, in the middle of the frame. */
export function svgDocument(text: string): string {
  // HTML knows neither of the two.
  const declared = text
    .slice(0, DECLARED_WITHIN)
    .replace(/^\ufeff?\s*<\?xml[^>]*>/, '')
    .replace(/<!DOCTYPE\s+svg[^>[]*(?:\[[^\]]*\])?[^>]*>/i, '')
  return page(
    'body{min-height:100vh;display:grid;place-items:center}svg{max-width:100%;max-height:100vh}',
    declared + text.slice(DECLARED_WITHIN),
  )
}

/** @param html the rendered Markdown. */
export const markdownDocument = (html: string): string =>
  page(
    'body{max-width:46rem;margin:0 auto;padding:1.25rem}img{max-width:100%}pre{overflow:auto;padding:.75rem;border:1px solid GrayText;border-radius:.5rem}table{border-collapse:collapse}td,th{border:1px solid GrayText;padding:.25rem .6rem}',
    html,
  )

/** JSON within a script element. */
const json = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

/** @param library the address of Mermaid's module. */
export const diagramDocument = (source: string, library: string): string =>
  page(
    'body{padding:1rem;box-sizing:border-box}svg{max-width:100%;height:auto}',
    `<div id="diagram"></div><script type="module">
import mermaid from ${json(library)}
const dark = () => getComputedStyle(document.documentElement).colorScheme === 'dark' || (document.documentElement.dataset.theme === undefined && matchMedia('(prefers-color-scheme: dark)').matches)
const draw = async () => {
  mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', maxTextSize: 50000, maxEdges: 500, theme: dark() ? 'dark' : 'default' })
  const { svg } = await mermaid.render('drawing', ${json(source)})
  document.querySelector('#diagram').innerHTML = svg
}
addEventListener('nanoclaw-theme', draw)
await draw()
</script>`,
  )

/**
 * The document of a component, which draws it into the whole frame.
 * @param modules what it can import, with the addresses.
 * @param main the address of the compiled file.
 */
export const componentDocument = (modules: ReadonlyMap<string, string>, main: string): string =>
  page(
    '#root{min-height:100vh}',
    `<script type="importmap">${json({ imports: Object.fromEntries(modules) })}</script><div id="root"></div><script type="module">
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import Component from ${json(main)}
createRoot(document.querySelector('#root')).render(createElement(Component))
</script>`,
  )

/** The styles of a file that a component imports: they hold for its whole document. */
export const styleModule = (css: string): string =>
  `const style = document.createElement('style')
style.textContent = ${json(css)}
document.head.append(style)
export default style.textContent`

/** A file that a component imports as data. */
export const jsonModule = (text: string): string => `export default ${text}`

/** Any other file that a component imports: its address. */
export const ADDRESS_MODULE = "export default import.meta.url.replace(/\\?.*$/, '')"

/**
 * Shown instead of an app that cannot be shown: the fault goes to the page, too.
 * @param line of the file of the app; null if the fault has none.
 */
export const faultDocument = (fault: string, line: number | null = null): string =>
  page(
    'pre{margin:1rem;white-space:pre-wrap}',
    `<pre>${escapeHtml(line === null ? fault : `${fault} (line ${line})`)}</pre><script>dispatchEvent(new ErrorEvent('error', {message: ${json(fault)}, lineno: ${line ?? 0}}))</script>`,
  )

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  htm: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  woff: 'font/woff',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  otf: 'font/otf',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  webm: 'video/webm',
  wasm: 'application/wasm',
  txt: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  md: 'text/plain; charset=utf-8',
}

/** The type of a file that an app loads, by its name. */
export const typeOf = (path: string): string =>
  TYPES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
