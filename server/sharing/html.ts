// HTML for texts from anybody: the frame of a document, its style and its policy.
import { createHash } from 'node:crypto'
import { escapeHtml } from '../lib/escape-html.ts'
import { CODE_KINDS } from './code-colours.ts'
import { type DocumentFont, FORMULA_FONT, fontFaces, TEXT_FONTS } from './document-fonts.ts'
import type { DocumentLanguage } from './document-texts.ts'

/** The product's logo and name, above what a server shows to visitors. */
export const BRAND =
  '<p class="brand"><svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9"/><g><path d="M9.5 23.5C7.6 17.5 9 11.4 12.6 8"/><path d="M15.4 24.2c-1.2-5.3-.1-11 3-15.2"/><path d="M21.4 23.2c-.7-4 .1-8 2.4-11.2"/></g></svg>NanoClaw</p>'

/** The colours of code, in light and dark documents, as in the page (web/src/app/styles.css). */
const CODE_COLOURS: Readonly<
  Record<(typeof CODE_KINDS)[number], readonly [light: string, dark: string]>
> = {
  comment: ['oklch(.5 .015 80)', 'oklch(.66 .012 80)'],
  keyword: ['oklch(.48 .13 305)', 'oklch(.78 .1 305)'],
  string: ['oklch(.45 .09 150)', 'oklch(.8 .09 150)'],
  'string-expression': ['oklch(.45 .09 150)', 'oklch(.8 .09 150)'],
  constant: ['oklch(.5 .12 50)', 'oklch(.82 .1 65)'],
  function: ['oklch(.47 .12 250)', 'oklch(.79 .09 245)'],
  parameter: ['oklch(.44 .06 60)', 'oklch(.84 .05 70)'],
  punctuation: ['oklch(.45 .012 75)', 'oklch(.74 .01 80)'],
  link: ['var(--accent)', 'var(--accent)'],
  inserted: ['oklch(.45 .105 152)', 'oklch(.78 .12 152)'],
  deleted: ['oklch(.5 .17 27)', 'oklch(.755 .125 25)'],
  changed: ['oklch(.48 .11 62)', 'oklch(.81 .115 78)'],
}
const codeStyle = CODE_KINDS.map((kind) => {
  const [light, dark] = CODE_COLOURS[kind]
  return `.code-${kind}{color:light-dark(${light},${dark})}`
}).join('')

// The other colours are those of the page, too.
const STYLE = `:root{color-scheme:light dark;--paper:oklch(.984 .004 85);--surface:oklch(1 0 0);--ink:oklch(.245 .012 70);--muted:oklch(.49 .013 75);--line:oklch(.915 .007 85);--edge:oklch(.61 .01 85);--soft:oklch(.936 .008 85);--accent:oklch(.475 .082 196);--on-accent:oklch(.99 .004 196);--bad:oklch(.51 .17 27)}
@media (prefers-color-scheme:dark){:root{--paper:oklch(.195 .005 75);--surface:oklch(.232 .006 75);--ink:oklch(.925 .006 85);--muted:oklch(.695 .01 80);--line:oklch(.288 .007 75);--edge:oklch(.55 .01 80);--soft:oklch(.275 .007 75);--accent:oklch(.775 .095 192);--on-accent:oklch(.19 .02 196);--bad:oklch(.755 .125 25)}}
@media (prefers-contrast:more){:root{--ink:light-dark(#000,#fff);--muted:light-dark(#333,#ddd);--line:light-dark(#777,#999);--edge:light-dark(#333,#ccc)}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.65 Geist,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","PingFang SC","Hiragino Sans","Microsoft YaHei","Noto Sans CJK SC","Noto Sans CJK JP",sans-serif;overflow-wrap:anywhere}
main{max-width:46rem;margin:0 auto;padding:2rem 1.25rem 4rem}
header{border-bottom:1px solid var(--line);margin-bottom:1.75rem;padding-bottom:1.25rem}
h1.title{font:500 1.75rem/1.25 Newsreader,ui-serif,Georgia,"Songti SC","Noto Serif CJK SC",serif;letter-spacing:-.01em;margin:0 0 .35rem}
.brand{display:flex;align-items:center;gap:.5rem;color:var(--muted);font-size:.875rem;margin:0 0 1.25rem}
.brand rect{fill:var(--accent)}.brand g{fill:none;stroke:var(--on-accent);stroke-width:2.6;stroke-linecap:round}
.note,footer{color:var(--muted);font-size:.85rem;margin:0}
footer{border-top:1px solid var(--line);margin-top:2rem;padding-top:1rem}
article{margin:0 0 1.75rem}
article>h2{color:var(--muted);font-size:.8rem;font-weight:600;margin:0 0 .25rem}
.user{background:var(--soft);border-radius:1.1rem;border-end-end-radius:.4rem;padding:.75rem 1rem;width:fit-content;max-width:85%;margin-inline-start:auto}
.said{white-space:pre-wrap;margin:0}
article :is(h1,h2,h3,h4,h5,h6){line-height:1.35}
.body h1{font-size:1.35rem}.body h2{font-size:1.2rem}.body :is(h3,h4,h5,h6){font-size:1.05rem}
a{color:var(--accent)}
pre{background:var(--surface);border:1px solid var(--line);border-radius:.75rem;padding:.75rem 1rem;overflow-x:auto;white-space:pre-wrap;font-size:.875rem;line-height:1.5}
pre.code{white-space:pre;overflow-wrap:normal}
${codeStyle}
pre.plain{background:none;border:0;padding:0;margin:0;font:inherit}
code,pre code{font-family:"Geist Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono CJK SC",monospace}
:not(pre)>code{background:var(--soft);border-radius:.3rem;font-size:.9em;padding:.1em .3em}
blockquote{border-inline-start:3px solid var(--line);color:var(--muted);margin:1em 0;padding-inline-start:1em}
.wide{border:1px solid var(--line);border-radius:.75rem;margin:1em 0;overflow-x:auto}table{border-collapse:collapse;min-width:100%;overflow-wrap:normal}
th,td{border-bottom:1px solid var(--line);padding:.45rem .8rem;vertical-align:top}th:not([align]){text-align:start}tbody>tr:last-child>td{border-bottom:0}
img{max-width:100%;border-radius:.6rem}.diagram{text-align:center}.diagram details{text-align:start}
.diagram{background:var(--surface);border:1px solid var(--line);border-radius:.75rem;margin:1em 0;padding:.75rem 1rem}.app iframe{border:1px solid var(--line);border-radius:.75rem;display:block;height:min(36rem,80vh);width:100%}.diagram iframe{border:0;display:block;height:16rem;width:100%}.diagram details{margin:.4rem 0}.diagram-dark{display:none}@media (prefers-color-scheme:dark){.diagram-dark{display:inline}.diagram-light{display:none}}
math{font-size:1.1em;font-family:"STIX Two Math","Latin Modern Math","Cambria Math","Noto Sans Math",math}
.formula{margin:1em 0;overflow-x:auto}
.alert{background:color-mix(in oklab,var(--kind) 9%,transparent);border-end-end-radius:.75rem;border-inline-start:3px solid var(--kind);border-start-end-radius:.75rem;margin:1em 0;padding:.3rem 1rem}.alert>p{margin:.4rem 0}.alert-title{color:var(--kind);font-size:.9rem;font-weight:600}
.alert-note{--kind:#2563c9}.alert-tip{--kind:#1a7f4b}.alert-important{--kind:#7c4bc4}.alert-warning{--kind:#9a6200}.alert-caution{--kind:#b3261e}
@media (prefers-color-scheme:dark){.alert-note{--kind:#8ab4f8}.alert-tip{--kind:#6fcf97}.alert-important{--kind:#c4a1ff}.alert-warning{--kind:#f0b849}.alert-caution{--kind:#ff8a80}}
.footnotes{border-top:1px solid var(--line);color:var(--muted);font-size:.875rem;margin-top:1.5rem}.footnotes p{display:inline}sup{line-height:0}sup a{padding:0 .15em;text-decoration:none}:target{background:var(--soft)}
.cell-short{white-space:nowrap}@media(min-width:640px){.cell-line{white-space:nowrap}}.cell-wide{min-width:11rem}.cell-widest{min-width:18rem}
kbd{border:1px solid var(--line);border-bottom-width:2px;border-radius:.3rem;font-size:.85em;padding:.05em .35em}
.link-address{color:var(--muted);font-size:.875em;overflow-wrap:anywhere;word-break:break-all}
.footnotes a{display:inline-block;text-decoration:none}
.citation{background:color-mix(in oklab,var(--accent) 13%,transparent);border-radius:1rem;color:var(--accent);font-size:.7rem;font-weight:600;padding:.1rem .4rem;text-decoration:none;white-space:nowrap}article>.sources{font-size:.875rem;margin-top:1rem}.sources h3{color:var(--muted);font-size:.8rem;font-weight:600;margin:0 0 .25rem}.sources ol{margin:0;padding-inline-start:1.5em}.sources span{color:var(--muted)}
summary>p{display:inline;margin:0}
details.steps>details{border-radius:.4rem;margin:.4rem 0}
details{border:1px solid var(--line);border-radius:.6rem;margin:.75rem 0;padding:.4rem .9rem}
summary{color:var(--muted);cursor:pointer;font-size:.875rem}
.files{list-style:none;margin:.5rem 0 0;padding:0;font-size:.875rem}
form{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end;margin-top:1.25rem}
label{display:block;font-size:.875rem;width:100%}
input,button,.button{font:inherit;border-radius:.6rem;border:1px solid var(--line);padding:.5rem .9rem;background:var(--surface);color:var(--ink)}
form input{flex:1;min-width:12rem;border-color:var(--edge)}
li:has(>input){list-style:none}li>input{margin:0 .4em 0 -1.4em}
button,.button{background:var(--accent);color:var(--on-accent);border-color:var(--accent);cursor:pointer;font-weight:500;text-decoration:none;display:inline-block}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.bad{color:var(--bad)}
@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--muted:#444;--line:#bbb;--soft:#f4f4f4;--accent:#000;--surface:#fff}
body{font-size:11pt}main{max-width:none;padding:0}h1,h2,h3{break-after:avoid}pre,table,img,blockquote{break-inside:avoid-page}pre,.wide,.formula{overflow:visible}pre.code{white-space:pre-wrap;overflow-wrap:anywhere}td,th{overflow-wrap:anywhere}.button,form,.brand,.link-address{display:none}a[href^=http]:not(.citation)::after{content:" (" attr(href) ")";font-size:.85em}}`

/**
 * The script of shared pages, which the policy names by its hash: no other can run. It writes dates in the reader's zone and
 * gives each diagram its height. Without it, dates are in UTC and diagrams scroll.
 */
const SCRIPT = `addEventListener('DOMContentLoaded',()=>{for(const time of document.querySelectorAll('time'))time.textContent=new Date(time.dateTime).toLocaleString(document.documentElement.lang,{dateStyle:'long',timeStyle:'short'})})
addEventListener('message',({data,source})=>{for(const frame of document.querySelectorAll('iframe'))if(frame.contentWindow===source&&data?.height>0)frame.style.height=Math.min(data.height,2e3)+'px'})`

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** A kind of document: its style, its script, and what its policy allows it to load. */
interface DocumentKind {
  style: string
  /** A style for the end of a document with formulas, if `style` does not have their font. */
  formulaStyle?: string
  script?: string
  policy: string
}

/** The policy of a kind of document. `sources`: what it loads from where. */
const policyOf = (
  { style, formulaStyle, script }: Omit<DocumentKind, 'policy'>,
  sources: readonly string[],
): string =>
  [
    "default-src 'none'",
    ...sources,
    `style-src ${hashOf(style)}${formulaStyle === undefined ? '' : ` ${hashOf(formulaStyle)}`}`,
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    "form-action 'self'",
    "base-uri 'none'",
  ].join('; ')

const pageStyle = fontFaces([...TEXT_FONTS, FORMULA_FONT], ({ path }) => path) + STYLE

/** A page of this server, which its fonts, its images and the frames of its diagrams come from. */
export const PAGE: DocumentKind = {
  style: pageStyle,
  script: SCRIPT,
  policy: policyOf({ style: pageStyle, script: SCRIPT }, [
    "img-src 'self'",
    "font-src 'self'",
    "frame-src 'self'",
  ]),
}

const inline = ({ content }: DocumentFont): string =>
  `data:font/woff2;base64,${content().toString('base64')}`

let file: DocumentKind | undefined

/** A file that contains everything it needs and no script. */
export function fileKind(): DocumentKind {
  if (file !== undefined) return file
  const styles = {
    style: fontFaces(TEXT_FONTS, inline) + STYLE,
    formulaStyle: fontFaces([FORMULA_FONT], inline),
  }
  file = { ...styles, policy: policyOf(styles, ['img-src data:', 'font-src data:']) }
  return file
}

/** A time in UTC, in the reader's language. */
export const timeHtml = (time: Date, language: DocumentLanguage): string => {
  const shown = time.toLocaleString(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  return `<time datetime="${time.toISOString()}">${escapeHtml(shown)} UTC</time>`
}

/** The start of a document, up to its content. */
export const documentStart = (
  title: string,
  language: DocumentLanguage,
  { style, script }: DocumentKind,
  head = '',
): string =>
  `<!doctype html>
<html lang="${language}" dir="auto"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex, nofollow, noarchive">
${head}<title>${escapeHtml(title)}</title>
<style>${style}</style>${script === undefined ? '' : `<script>${script}</script>`}</head>
<body><main>
`

export const DOCUMENT_END = '</main></body></html>\n'
