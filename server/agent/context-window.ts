// Fits a conversation to a model's context window: old tool results first, then the oldest turns as a summary.
import type { LlmMessage } from '../llm/client.ts'
import { estimateMessageTokens } from '../llm/tokens.ts'
import type { CallId } from '../protocol/ids.ts'
import { CONTINUE_NOTE, summaryNote, withNote } from './system-prompt.ts'

/** A shortened tool result keeps this many characters from its beginning. */
const SHORTENED_RESULT_CHARACTERS = 400
const SHORTENED_MARK =
  ' … [shortened to save space: the call completed, the rest of its result is omitted]'
/** Ends a result that the model has not read yet. */
const CUT_MARK =
  ' … [cut off here: the rest does not fit into the context window. Ask for a smaller part.]'
/** Old results are shortened when the messages fill more of the budget than this. */
const SHORTEN_ABOVE = 0.8
/** They are left alone if that gains less of the budget, unless the messages do not fit otherwise. */
const WORTH_SHORTENING = 0.1
/** Results of this many last iterations stay whole, unless the messages do not fit otherwise. */
const WHOLE_ITERATIONS = 2
/** Share of the free window that the kept turns may fill after a summary. Leaves room, so that not every turn needs a new summary. */
const KEPT_SHARE = 0.5
/** Tokens for messages, however little the tools leave. */
const MIN_BUDGET = 256
/** Providers count at most this much more, or less, than the estimate. */
const MAX_RATIO = 3

const total = (messages: readonly LlmMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)

/** Tokens left for messages in a window of `contextWindow`. @param toolTokens tokens of the tools in each request. */
export function messageBudget(
  contextWindow: number,
  answerTokens: number | undefined,
  toolTokens: number,
): number {
  const reserved = Math.min(answerTokens ?? 4_096, contextWindow / 2)
  return Math.max(MIN_BUDGET, contextWindow - reserved - toolTokens)
}

/** What later runs of the conversation must repeat, so that their requests begin with the same bytes. */
export interface WindowMarks {
  /** Results up to the one of this call are shortened. */
  shortenedTo?: CallId | undefined
  /** Tokens that the provider counts for each token of the estimate. */
  ratio?: number | undefined
}

/** What a window is created with, once for each attempt of a run. */
export interface ContextWindowOptions {
  /** Tokens for messages. */
  budget: number
  /** Tokens of each request that are not messages: the tools. */
  otherTokens?: number
  marks?: WindowMarks
  /**
   * Gets the messages that are dropped. `turns` is the number of complete turns dropped so far, null when they are iterations
   * of the newest turn. Must not throw; returns null when no summary could be written.
   */
  summarize(dropped: readonly LlmMessage[], turns: number | null): Promise<string | null>
}

/** Keeps the messages of a run within the context window of its model. */
export interface ContextWindow {
  /**
   * The messages to send. Call it with all messages of the run, to which each iteration only adds. What was shortened or
   * dropped once stays so, and nothing changes while the messages fill less than 80 % of the budget.
   */
  fit(messages: readonly LlmMessage[]): Promise<readonly LlmMessage[]>
  /** The provider's count for the last request. */
  report(promptTokens: number): void
  readonly marks: WindowMarks
}

/** One per run: what it has shortened stays shortened. */
export function createContextWindow(options: ContextWindowOptions): ContextWindow {
  const { budget, otherTokens = 0, summarize } = options
  let { shortenedTo, ratio = 1 } = options.marks ?? {}
  let view: LlmMessage[] = []
  /** Messages of the run that `view` stands for. */
  let seen = 0
  let droppedTurns = 0
  /** The newest question as it was before a summary was added to it, and as it is sent. */
  let split: { plain: LlmMessage | undefined; sent: LlmMessage | undefined } | null = null
  /** Tokens of the estimate that fit. The provider counts the tools by its own measure, too. */
  const room = () => Math.max(MIN_BUDGET, (budget + otherTokens) / ratio - otherTokens)
  const fits = () => total(view) <= room()

  /** Shortens all results before `end` at once. */
  const shortenBefore = (end: number): void => {
    const last = view.slice(0, end).findLast((message) => message.role === 'tool')
    if (last?.role !== 'tool') return
    view = view.map((message, at) => (at < end ? shortened(message) : message))
    shortenedTo = last.callId
  }
  const shortenOld = (): void => {
    const iterations = view.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []))
    const old = iterations.at(-WHOLE_ITERATIONS) ?? 0
    const gain = total(view) - total(view.map((one, at) => (at < old ? shortened(one) : one)))
    if (gain >= room() * WORTH_SHORTENING) shortenBefore(old)
    // The model has not read the results of the last iteration yet.
    if (!fits()) shortenBefore(iterations.at(-1) ?? 0)
  }
  const replaceDropped = async (
    kept: readonly LlmMessage[],
    dropped: readonly LlmMessage[],
    turns: number | null,
  ): Promise<void> => {
    const summary = await summarize(dropped, turns)
    const note =
      summary === null
        ? 'Earlier parts of this conversation were omitted because they no longer fit the context window.'
        : summaryNote(summary)
    view = [...view.filter(isSystem), ...withNote(kept, 0, note)]
  }
  const dropTurns = async (): Promise<void> => {
    const turns = splitBefore(view.filter(isNotSystem), isQuestion)
    const newest = turns.at(-1) ?? []
    const free = Math.max(0, room() - total(view.filter(isSystem)) - total(newest))
    const keptFrom = keptFromEnd(turns, turns.length - 1, free * KEPT_SHARE)
    if (keptFrom === 0) return
    droppedTurns += keptFrom
    await replaceDropped(
      turns.slice(keptFrom).flat(),
      turns.slice(0, keptFrom).flat(),
      droppedTurns,
    )
  }
  /** Drops iterations of the newest turn, when that alone is too long. Its question stays. */
  const splitNewestTurn = async (): Promise<void> => {
    const newest = splitBefore(view.filter(isNotSystem), isQuestion).at(-1) ?? []
    const [question = [], ...iterations] = splitBefore(newest, ({ role }) => role === 'assistant')
    const free = Math.max(0, room() - total(view.filter(isSystem)) - total(question))
    const keptFrom = keptFromEnd(iterations, iterations.length - 1, free * KEPT_SHARE)
    if (keptFrom <= 0) return
    const kept = iterations.slice(keptFrom).flat()
    // A second summary includes the first one, so it replaces it.
    const plain = split !== null && split.sent === question[0] ? split.plain : question[0]
    const asked = plain === undefined ? question : [plain, ...question.slice(1)]
    const dropped = [...question, ...iterations.slice(0, keptFrom).flat()]
    await replaceDropped([...asked, ...kept], dropped, null)
    split = { plain, sent: view.find(isNotSystem) }
  }
  /** The last resort: results that the model has not read yet are cut, the longest first. */
  const cutNewest = (): void => {
    const from = view.findLastIndex(({ role }) => role === 'assistant') + 1
    const sizes = view.slice(from).map((one) => (one.role === 'tool' ? total([one]) : 0))
    const limit = limitFor(sizes, sizes.reduce((sum, one) => sum + one, 0) - total(view) + room())
    view = view.map((message, at) => {
      const tokens = sizes[at - from] ?? 0
      return tokens > limit ? cutTo(message, limit / tokens) : message
    })
  }

  return {
    async fit(messages) {
      view.push(...messages.slice(seen))
      const isFirst = seen === 0
      seen = messages.length
      if (isFirst && shortenedTo !== undefined) {
        const id = shortenedTo
        shortenBefore(view.findLastIndex((one) => one.role === 'tool' && one.callId === id) + 1)
      }
      if (total(view) > room() * SHORTEN_ABOVE) shortenOld()
      if (!fits()) await dropTurns()
      if (!fits()) await splitNewestTurn()
      if (!fits()) cutNewest()
      return [...view]
    },
    report(promptTokens) {
      const estimate = total(view) + otherTokens
      if (promptTokens > 0 && estimate > 0)
        ratio = Math.min(MAX_RATIO, Math.max(1 / MAX_RATIO, promptTokens / estimate))
    },
    get marks() {
      return { shortenedTo, ratio }
    },
  }
}

const isSystem = ({ role }: LlmMessage): boolean => role === 'system'
const isNotSystem = ({ role }: LlmMessage): boolean => role !== 'system'
/** Begins a turn. */
const isQuestion = ({ role, content }: LlmMessage): boolean =>
  role === 'user' && content !== CONTINUE_NOTE

function shortened(message: LlmMessage): LlmMessage {
  const isLong = message.content.length > SHORTENED_RESULT_CHARACTERS + SHORTENED_MARK.length
  if (message.role !== 'tool' || !isLong) return message
  return {
    ...message,
    content: message.content.slice(0, SHORTENED_RESULT_CHARACTERS) + SHORTENED_MARK,
  }
}

/** The message with this share of its content, but not less than of a result that is shortened. */
function cutTo(message: LlmMessage, share: number): LlmMessage {
  const kept = Math.floor(message.content.length * share) - 2 * CUT_MARK.length
  const content = message.content.slice(0, Math.max(SHORTENED_RESULT_CHARACTERS, kept))
  return content.length + CUT_MARK.length >= message.content.length
    ? message
    : { ...message, content: content + CUT_MARK }
}

/** The largest limit for each of the sizes with which they are, together, no more than `sum`. */
function limitFor(sizes: readonly number[], sum: number): number {
  const ascending = sizes.toSorted((one, other) => one - other)
  let left = Math.max(0, sum)
  for (const [at, size] of ascending.entries()) {
    const share = left / (ascending.length - at)
    if (size > share) return share
    left -= size
  }
  return Number.POSITIVE_INFINITY
}

/** The first of the parts up to `end` that fits, together with those after it, into `tokens`. */
function keptFromEnd(parts: readonly LlmMessage[][], end: number, tokens: number): number {
  let kept = 0
  let from = end
  while (from > 0) {
    kept += total(parts[from - 1] ?? [])
    if (kept > tokens) break
    from -= 1
  }
  return from
}

/** Splits the messages before each one that begins a part. A turn is a user message and everything that answered it. */
function splitBefore(
  messages: readonly LlmMessage[],
  begins: (message: LlmMessage) => boolean,
): LlmMessage[][] {
  const parts: LlmMessage[][] = []
  for (const message of messages) {
    const open = parts.at(-1)
    if (begins(message) || open === undefined) parts.push([message])
    else open.push(message)
  }
  return parts
}
