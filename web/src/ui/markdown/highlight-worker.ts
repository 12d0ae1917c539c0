// The worker that highlights code, so that a long block never blocks the page.
import {
  createCssVariablesTheme,
  createHighlighterCore,
  type GrammarState,
  type LanguageInput,
} from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'
import type { HighlightedLines, HighlightRequest, HighlightResponse, Token } from './highlight.ts'

const GRAMMARS: Record<string, () => Promise<{ default: LanguageInput }>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  graphql: () => import('shiki/langs/graphql.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  latex: () => import('shiki/langs/latex.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  makefile: () => import('shiki/langs/makefile.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  mermaid: () => import('shiki/langs/mermaid.mjs'),
  nginx: () => import('shiki/langs/nginx.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  r: () => import('shiki/langs/r.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  vue: () => import('shiki/langs/vue.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
}

const LANGUAGE_ALIASES: Record<string, string> = {
  'c#': 'csharp',
  'c++': 'cpp',
  cs: 'csharp',
  console: 'bash',
  dockerfile: 'docker',
  golang: 'go',
  htm: 'html',
  js: 'javascript',
  cjs: 'javascript',
  mjs: 'javascript',
  jsonc: 'json',
  kt: 'kotlin',
  make: 'makefile',
  md: 'markdown',
  patch: 'diff',
  ps1: 'powershell',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  svg: 'xml',
  tex: 'latex',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
}

const highlighter = createHighlighterCore({
  themes: [createCssVariablesTheme({ name: 'page', variablePrefix: '--code-' })],
  langs: [],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
})
const loading = new Map<string, Promise<void>>()

/** The state of a block of code: its complete lines, and the state of the grammar after them. */
type ReadBlock = { language: string; code: string; lines: number; state: GrammarState }

/** How many recent blocks are remembered; only a few grow at the same time. */
const MAX_READ_BLOCKS = 8
const readBlocks = new Map<number, ReadBlock>()

function remember(block: number, read: ReadBlock): void {
  readBlocks.delete(block)
  readBlocks.set(block, read)
  const [oldest] = readBlocks.keys()
  if (readBlocks.size > MAX_READ_BLOCKS && oldest !== undefined) readBlocks.delete(oldest)
}

async function tokenize(request: HighlightRequest): Promise<HighlightedLines | null> {
  const { block, code, language } = request
  const name = LANGUAGE_ALIASES[language] ?? language
  const grammar = Object.hasOwn(GRAMMARS, name) ? GRAMMARS[name] : undefined
  if (grammar === undefined) return null
  const shiki = await highlighter
  let ready = loading.get(name)
  if (ready === undefined) {
    ready = grammar().then((module) => shiki.loadLanguage(module.default))
    loading.set(name, ready)
  }
  await ready
  const known = readBlocks.get(block)
  const before =
    known !== undefined && known.language === language && code.startsWith(known.code)
      ? known
      : { language, code: '', lines: 0, state: undefined }
  const read = (text: string, state: GrammarState | undefined) =>
    shiki.codeToTokens(text, {
      lang: name,
      theme: 'page',
      tokenizeMaxLineLength: 2_000,
      ...(state === undefined ? {} : { grammarState: state }),
    })
  const tokens: HighlightedLines['lines'] = []
  let { state } = before
  const tokenizeText = (text: string): void => {
    const result = read(text, state)
    state = result.grammarState
    for (const line of result.tokens)
      tokens.push(line.map((token): Token => [token.content, token.color ?? null]))
  }
  // The last line may still grow, so the next request tokenizes it again.
  const end = code.lastIndexOf('\n') + 1
  if (end > before.code.length) tokenizeText(code.slice(before.code.length, end - 1))
  if (state !== undefined)
    remember(block, {
      language,
      code: code.slice(0, end),
      lines: before.lines + tokens.length,
      state,
    })
  tokenizeText(code.slice(end))
  return { from: before.lines, lines: tokens }
}

const respond = async (request: HighlightRequest): Promise<void> => {
  // If the grammar fails, the code stays uncoloured.
  const highlighted = await tokenize(request).catch(() => null)
  const message: HighlightResponse = { id: request.id, highlighted }
  self.postMessage(message)
}

self.addEventListener('message', (message: MessageEvent<HighlightRequest>) => {
  void respond(message.data)
})
