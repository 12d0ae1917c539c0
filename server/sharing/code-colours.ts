// Colours for the code of documents: classes of their style, because they contain no scripts and no inline styles.
import type { GrammarState } from 'shiki/core'
import { createGrammars, type Grammar } from '../protocol/markdown/code-grammars.ts'
import { fenceLanguages } from './fence-languages.ts'

/** A piece of code; `kind` is one of `CODE_KINDS`, or null for the colour of other text. */
export interface CodePiece {
  text: string
  kind: string | null
}

/** The pieces of a block of code, or null if it stays uncoloured. */
export type ColourCode = (code: string, language: string) => CodePiece[] | null

/** Colours nothing. */
export const uncoloured: ColourCode = () => null

/** What pieces of code are, by the theme of the grammars; the page has the same. */
export const CODE_KINDS = [
  'comment',
  'keyword',
  'string',
  'string-expression',
  'constant',
  'function',
  'parameter',
  'punctuation',
  'link',
  'inserted',
  'deleted',
  'changed',
] as const

const KIND = new Map<string, string>(CODE_KINDS.map((kind) => [`var(--code-token-${kind})`, kind]))

/** Of one text. Colours make HTML about five times longer. */
const MAX_COLOURED_CHARACTERS = 20_000
/** Of one text. What is left then stays uncoloured; most of the time goes into the first lines of a language. */
const MAX_COLOURING_MS = 2_000

const grammars = createGrammars()

/** Loads the grammars of the languages that a Markdown text names. A grammar that fails leaves its code uncoloured. */
export async function loadColours(markdown: string): Promise<ColourCode> {
  const loaded = new Map<string, Grammar>()
  for (const language of fenceLanguages(markdown)) {
    const grammar = await grammars.load(language).catch(() => null)
    if (grammar !== null) loaded.set(language, grammar)
  }
  let characters = 0
  let usedMs = 0
  return (code, language) => {
    const grammar = loaded.get(language.toLowerCase())
    characters += code.length
    if (grammar === undefined || characters > MAX_COLOURED_CHARACTERS) return null
    const start = performance.now()
    const isLate = (): boolean => usedMs + performance.now() - start > MAX_COLOURING_MS
    const pieces = piecesOf(grammar, code, isLate)
    usedMs += performance.now() - start
    return pieces
  }
}

function piecesOf(grammar: Grammar, code: string, isLate: () => boolean): CodePiece[] {
  const lines = code.split('\n')
  const pieces: CodePiece[] = []
  let state: GrammarState | undefined
  for (const [index, line] of lines.entries()) {
    if (index > 0) pieces.push({ text: '\n', kind: null })
    if (isLate()) return [...pieces, { text: lines.slice(index).join('\n'), kind: null }]
    const read = grammar(line, state)
    state = read.grammarState
    for (const { content, color = '' } of read.tokens.flat())
      pieces.push({ text: content, kind: KIND.get(color) ?? null })
  }
  return pieces
}
