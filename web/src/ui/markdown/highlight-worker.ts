// The worker that highlights code, so that a long block never blocks the page.
import type { GrammarState } from 'shiki/core'
import { createGrammars } from '../../../../server/protocol/markdown/code-grammars.ts'
import type { HighlightedLines, HighlightRequest, HighlightResponse, Token } from './highlight.ts'

const grammars = createGrammars()

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
  const grammar = await grammars.load(language)
  if (grammar === null) return null
  const known = readBlocks.get(block)
  const before =
    known !== undefined && known.language === language && code.startsWith(known.code)
      ? known
      : { language, code: '', lines: 0, state: undefined }
  const tokens: HighlightedLines['lines'] = []
  let { state } = before
  const tokenizeText = (text: string): void => {
    const result = grammar(text, state)
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
