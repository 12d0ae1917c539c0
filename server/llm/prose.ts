// What a model writes, thinking and text, and how it is handed from the client that reads it to whoever receives it.

/** Who a piece of prose is for: the person, or the model itself. */
export type ProseKind = 'thinking' | 'text'

/**
 * Receives what a model writes, in order. A client calls it while it reads, without a turn of the event loop between the two
 * (decision 0018). What it throws ends the model call.
 */
export interface ProseSink {
  /** Adds a piece. Nothing more is handed over until the returned promise resolves; undefined: at once. */
  append(kind: ProseKind, text: string): Promise<void> | undefined
  /**
   * All text of this response so far was reasoning: its closing mark came without an opening one, because the chat template
   * sent that itself. What follows is the answer.
   */
  textWasThinking(): Promise<void> | undefined
}

/** A piece of one response, as the reader of its wire format found it. */
export type Delta =
  | { type: 'thinking_delta' | 'text_delta'; text: string }
  | { type: 'text_was_thinking' }

/** Hands the pieces over in order. Returns a promise only if the receiver needs time. */
export function handOver(deltas: readonly Delta[], prose: ProseSink): Promise<void> | undefined {
  for (const [at, delta] of deltas.entries()) {
    const waits =
      delta.type === 'text_was_thinking'
        ? prose.textWasThinking()
        : prose.append(delta.type === 'text_delta' ? 'text' : 'thinking', delta.text)
    if (waits !== undefined) return waits.then(() => handOver(deltas.slice(at + 1), prose))
  }
  return undefined
}

/** Passes everything on to `prose`, and calls `onOutput` before each piece. */
export const noticingOutput = (prose: ProseSink, onOutput: () => void): ProseSink => ({
  append(kind, text) {
    onOutput()
    return prose.append(kind, text)
  },
  textWasThinking() {
    onOutput()
    return prose.textWasThinking()
  },
})

/** What was gathered of one response. Nothing has to wait for it. */
interface GatheredProse extends Record<ProseKind, string> {
  append(kind: ProseKind, text: string): undefined
  textWasThinking(): undefined
}

/** Gathers what one response says. @param limit what comes after this many characters of a kind is left out. */
export function gatherProse(limit = Number.POSITIVE_INFINITY): GatheredProse {
  const gathered: GatheredProse = {
    text: '',
    thinking: '',
    append(kind, text) {
      if (gathered[kind].length < limit) gathered[kind] += text
      return undefined
    },
    textWasThinking() {
      gathered.thinking += gathered.text
      gathered.text = ''
      return undefined
    },
  }
  return gathered
}

// The text of an answer, which arrives in many pieces.

/** The pieces are joined from time to time, because a long chain of strings takes more memory than the text. */
export interface GrowingText {
  joined: string
  pieces: string[]
}

const JOIN_AT = 16

/** A text without pieces. */
export const createGrowingText = (): GrowingText => ({ joined: '', pieces: [] })

/** Adds a piece at the end. */
export function addPiece(text: GrowingText, piece: string): void {
  if (text.pieces.push(piece) >= JOIN_AT) wholeText(text)
}

/** The whole text. */
export function wholeText(text: GrowingText): string {
  if (text.pieces.length > 0) text.joined += text.pieces.join('')
  text.pieces = []
  return text.joined
}
