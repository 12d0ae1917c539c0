// The languages whose code is coloured, in the page and in the documents of the server.
import type { GrammarState, HighlighterCore, LanguageInput, TokensResult } from 'shiki/core'

const GRAMMARS: Readonly<Record<string, () => Promise<{ default: LanguageInput }>>> = {
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

/** What else the languages are called. */
const ALIASES: Readonly<Record<string, string>> = {
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

/** Colours are variables: `var(--code-token-keyword)`, and `var(--code-foreground)` for everything else. */
const VARIABLE_PREFIX = '--code-'
const THEME = 'page'
/** Longer lines stay uncoloured. */
const MAX_LINE_CHARACTERS = 2_000

/** Reads code as lines of tokens. @param state where the code before it ended; the beginning by default. */
export type Grammar = (code: string, state?: GrammarState) => TokensResult

async function createHighlighter(): Promise<HighlighterCore> {
  const [{ createCssVariablesTheme, createHighlighterCore }, { createJavaScriptRegexEngine }] =
    await Promise.all([import('shiki/core'), import('shiki/engine/javascript')])
  return await createHighlighterCore({
    themes: [createCssVariablesTheme({ name: THEME, variablePrefix: VARIABLE_PREFIX })],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
}

/** Grammars that load when they are first needed, with one highlighter for all of them, which loads with the first. */
export function createGrammars() {
  let highlighter: Promise<HighlighterCore> | undefined
  const loading = new Map<string, Promise<void>>()

  return {
    /** Null for a language without a grammar. @param language as after the fence of a block of code. */
    async load(language: string): Promise<Grammar | null> {
      const name = ALIASES[language] ?? language
      const grammar = Object.hasOwn(GRAMMARS, name) ? GRAMMARS[name] : undefined
      if (grammar === undefined) return null
      highlighter ??= createHighlighter().catch((error: unknown) => {
        // What could not be loaded now may be there the next time.
        highlighter = undefined
        throw error
      })
      const shiki = await highlighter
      let ready = loading.get(name)
      if (ready === undefined) {
        ready = grammar()
          .then((module) => shiki.loadLanguage(module.default))
          .catch((error: unknown) => {
            loading.delete(name)
            throw error
          })
        loading.set(name, ready)
      }
      await ready
      return (code, state) =>
        shiki.codeToTokens(code, {
          lang: name,
          theme: THEME,
          tokenizeMaxLineLength: MAX_LINE_CHARACTERS,
          // The first lines of a language are slow. Ending one early would give wrong colours to all that follow.
          tokenizeTimeLimit: 0,
          ...(state === undefined ? {} : { grammarState: state }),
        })
    },
  }
}
