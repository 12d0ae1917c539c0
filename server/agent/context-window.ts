// Fits a conversation into a model's context window: shortens old tool results first, then summarizes the oldest turns.
import type { LlmMessage } from '../llm/client.ts'
import { estimateMessageTokens } from '../llm/tokens.ts'
import { withoutResultImages } from '../llm/user-content.ts'
import type { CallId } from '../protocol/ids.ts'
import { USE_SKILL } from '../tools/builtin/agents/use-skill.ts'
import { CONTINUE_NOTE, summaryNote, withNote } from './system-prompt.ts'

/** A shortened tool result keeps this many characters from its beginning. */
const SHORTENED_RESULT_CHARACTERS = 400
const SHORTENED_MARK =
  ' … [shortened to save space: the call completed, the rest of its result is omitted]'
/** The end of a cut result that the model has not read yet. */
const CUT_MARK =
  ' … [cut off here: the rest does not fit into the context window. Ask for a smaller part.]'
/** Old results are shortened once the messages fill more than this share of the budget. */
const SHORTEN_ABOVE = 0.8
/**
 * Results stay whole if shortening them frees less than this share of the budget, unless the messages do not fit otherwise.
 */
const WORTH_SHORTENING = 0.1
/** The results of this many last iterations stay whole, unless the messages do not fit otherwise. */
const WHOLE_ITERATIONS = 2
/**
 * Share of the free window that the kept turns may fill after a summary. The rest is left free, so that not every turn
 * needs a new summary.
 */
const KEPT_SHARE = 0.5
/** Minimum number of tokens for messages, even if the tools leave fewer. */
const MIN_BUDGET = 256
/** Providers count at most this many times more, or fewer, tokens than the estimate. */
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
  /** The call whose result is the last one that was shortened; all results before it are shortened, too. */
  shortenedTo?: CallId | undefined
  /** The provider's token count divided by the estimate. */
  ratio?: number | undefined
}

/** The options of a window. Create one per attempt of a run. */
export interface ContextWindowOptions {
  /** Tokens for messages. */
  budget: number
  /** Tokens of each request that are not messages, that is, those of the tools. */
  otherTokens?: number
  marks?: WindowMarks
  /**
   * Receives the dropped messages. `turns` is the number of complete turns dropped so far, null if they are iterations of
   * the newest turn. Must not throw; returns null if no summary could be written.
   */
  summarize(dropped: readonly LlmMessage[], turns: number | null): Promise<string | null>
}

/** Keeps the messages of a run within the context window of its model. */
export interface ContextWindow {
  /**
   * Returns the messages to send. Call it with all messages of the run, to which each iteration only adds. Messages that
   * were shortened or dropped stay so, and nothing changes while the messages fill less than 80 % of the budget.
   */
  fit(messages: readonly LlmMessage[]): Promise<readonly LlmMessage[]>
  /** Reports the provider's token count for the last request. */
  report(promptTokens: number): void
  readonly marks: WindowMarks
}

/** The last resort: cuts results that the model has not read yet, the longest first. */
function withNewestCut(view: readonly LlmMessage[], room: number): LlmMessage[] {
  const from = view.findLastIndex(({ role }) => role === 'assistant') + 1
  const sizes = view.slice(from).map((one) => (one.role === 'tool' ? total([one]) : 0))
  const limit = limitFor(sizes, sizes.reduce((sum, one) => sum + one, 0) - total(view) + room)
  return view.map((message, at) => {
    const tokens = sizes[at - from] ?? 0
    return tokens > limit && !isInstructions(message) ? cutTo(message, limit / tokens) : message
  })
}

/** Create one per run: results stay shortened for the rest of it. */
export function createContextWindow(options: ContextWindowOptions): ContextWindow {
  const { budget, otherTokens = 0, summarize } = options
  let { shortenedTo, ratio = 1 } = options.marks ?? {}
  let view: LlmMessage[] = []
  /** How many messages of the run `view` covers. */
  let seen = 0
  let droppedTurns = 0
  /** The newest question before a summary was added to it, and as it is sent. */
  let split: { plain: LlmMessage | undefined; sent: LlmMessage | undefined } | null = null
  /** Tokens, by our estimate, that fit. The provider's count of the tools may differ from the estimate, too. */
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
  /** Drops iterations of the newest turn if that turn alone is too long. Its question stays. */
  const splitNewestTurn = async (): Promise<void> => {
    const newest = splitBefore(view.filter(isNotSystem), isQuestion).at(-1) ?? []
    const [question = [], ...iterations] = splitBefore(newest, ({ role }) => role === 'assistant')
    const free = Math.max(0, room() - total(view.filter(isSystem)) - total(question))
    const keptFrom = keptFromEnd(iterations, iterations.length - 1, free * KEPT_SHARE)
    if (keptFrom <= 0) return
    const kept = iterations.slice(keptFrom).flat()
    // The new summary includes the earlier one and replaces it.
    const plain = split !== null && split.sent === question[0] ? split.plain : question[0]
    const asked = plain === undefined ? question : [plain, ...question.slice(1)]
    const dropped = [...question, ...iterations.slice(0, keptFrom).flat()]
    await replaceDropped([...asked, ...kept], dropped, null)
    split = { plain, sent: view.find(isNotSystem) }
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
      if (!fits()) view = withNewestCut(view, room())
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

/** Whether it is the result of `use_skill`. */
const isInstructions = (message: LlmMessage): boolean =>
  message.role === 'tool' && message.name === USE_SKILL
const isSystem = ({ role }: LlmMessage): boolean => role === 'system'
const isNotSystem = ({ role }: LlmMessage): boolean => role !== 'system'
/** Whether the message begins a turn. */
const isQuestion = ({ role, content }: LlmMessage): boolean =>
  role === 'user' && content !== CONTINUE_NOTE

function shortened(message: LlmMessage): LlmMessage {
  // Instructions are of no use without their end.
  if (message.role !== 'tool' || isInstructions(message)) return message
  const { images = [], ...rest } = message
  const isLong = rest.content.length > SHORTENED_RESULT_CHARACTERS + SHORTENED_MARK.length
  if (!isLong && images.length === 0) return message
  const content = isLong
    ? rest.content.slice(0, SHORTENED_RESULT_CHARACTERS) + SHORTENED_MARK
    : rest.content
  return {
    ...rest,
    content:
      images.length === 0 ? content : withoutResultImages(content, images.length, 'to save space'),
  }
}

/** Cuts the message to this share of its content, but never shorter than an old result is shortened. */
function cutTo(message: LlmMessage, share: number): LlmMessage {
  const kept = Math.floor(message.content.length * share) - 2 * CUT_MARK.length
  const content = message.content.slice(0, Math.max(SHORTENED_RESULT_CHARACTERS, kept))
  return content.length + CUT_MARK.length >= message.content.length
    ? message
    : { ...message, content: content + CUT_MARK }
}

/** The largest limit for each of these sizes with which their sum stays within `sum`. */
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

/** Index of the first part before `end` from which on all parts fit into `tokens`. */
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

/** Splits the messages before each message that begins a part. A turn is a user message and everything that answered it. */
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
