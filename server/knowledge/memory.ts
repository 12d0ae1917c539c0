// What the server remembers about users across conversations: the `CONTEXT.md` text, its facts, and the part of it that
// goes into a prompt.
import { appError } from '../errors.ts'
import { indexWords, queryWords } from '../lib/words.ts'
import type { UserId } from '../protocol/ids.ts'
import {
  FACTS_HEADING,
  isMemoryHeading,
  type MemoryFact,
  readMemoryLines,
  toFactLine,
  UNTRUSTED_MARK,
} from '../protocol/memory-format.ts'

const MAX_FACT_CHARACTERS = 500
/** Tokens of the memory in a prompt. */
const PROMPT_TOKENS = 1_500
const MAX_FACTS = 500
const MAX_MEMORY_CHARACTERS = 200_000
/** Share of the prompt's budget for the user's own text. */
const OWN_SHARE = 0.6
/** Facts ranked before yielding to the event loop: about a millisecond. */
const FACTS_PER_SLICE = 20
/** Tokens of the shortest fact with its dash. */
const MIN_FACT_TOKENS = 2

/** Stores the texts, one per user. */
export interface MemoryStore {
  /** '' if there is none. */
  get(userId: UserId): Promise<string>
  /** Reads and replaces in one transaction, so that two facts saved concurrently are both stored. Returns the new text. */
  change(userId: UserId, replace: (content: string) => string): Promise<string>
}

/** Facts about users that later conversations can read. */
export interface Memory {
  read(userId: UserId): Promise<string>
  /**
   * Replaces the whole text with the user's edit of `base`; of any text without it.
   * @throws AppError `payload_too_large` beyond 200,000 characters, `file_changed` if the text is no longer `base`.
   */
  write(userId: UserId, content: string, base?: string): Promise<string>
  /**
   * Adds one dated fact. Resolves to `known` if it was already stored, so that nothing changed, or to `full` if facts must
   * be deleted first. `untrusted`: the fact comes from a conversation that contains text from outside, and is marked as
   * such.
   */
  remember(
    userId: UserId,
    fact: string,
    options: { untrusted: boolean },
  ): Promise<'saved' | 'known' | 'full'>
}

/** Either part is '' if there is nothing to include. */
export interface MemorySection {
  /** The user's own text, and facts from untainted conversations. */
  trusted: string
  /** Facts from tainted conversations: data that must not be in a system message. */
  outside: string
}

/** The texts are in `store`; no state is kept here. */
export function createMemory(store: MemoryStore, options: { now(): Date }): Memory {
  return {
    read: (userId) => store.get(userId),
    async write(userId, content, base) {
      if (content.length > MAX_MEMORY_CHARACTERS)
        throw appError('memory_too_long', { limit: MAX_MEMORY_CHARACTERS, length: content.length })
      return store.change(userId, (current) => {
        if (base !== undefined && current !== base)
          throw appError('file_changed_meanwhile', { path: 'CONTEXT.md' })
        return content
      })
    },
    async remember(userId, fact, { untrusted }) {
      let outcome: 'saved' | 'known' | 'full' = 'saved'
      await store.change(userId, (content) => {
        const parts = splitMemory(content)
        const normalized = normalizeFact(fact)
        if (parts.facts.some((known) => normalizeFact(known.text) === normalized)) {
          outcome = 'known'
          return content
        }
        if (
          parts.facts.length >= MAX_FACTS ||
          content.length + fact.length > MAX_MEMORY_CHARACTERS
        ) {
          outcome = 'full'
          return content
        }
        outcome = 'saved'
        return appendFact(
          content,
          toFactLine({ text: fact, date: options.now().toISOString().slice(0, 10), untrusted }),
        )
      })
      return outcome
    },
  }
}

interface MemoryParts {
  own: string
  /** Oldest first. */
  facts: MemoryFact[]
}

/** Reduces a fact to one line of plain text; null if nothing is left. */
export function cleanFact(fact: string): string | null {
  const line = fact
    // Line breaks and control characters could make a fact look like a heading or another fact.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^(?:[-*+#>]\s*)+/, '')
    .replaceAll(UNTRUSTED_MARK, '')
    .trim()
  return line === '' ? null : line.slice(0, MAX_FACT_CHARACTERS)
}

/** Separates the facts below the heading from the user's own text; a later heading begins the user's own text again. */
function splitMemory(content: string): MemoryParts {
  const lines = readMemoryLines(content.split(/\r\n?|\n/))
  const own = lines.filter(({ isOwn }) => isOwn).map(({ line }) => line)
  return {
    own: own.join('\n').trim(),
    facts: lines.flatMap(({ fact }) => (fact === null ? [] : [fact])),
  }
}

/** Adds the line at the end of the section, creating the section when it is missing. */
function appendFact(content: string, line: string): string {
  const lines = content.trimEnd().split('\n')
  const start = lines.findIndex((candidate) => candidate.trim() === FACTS_HEADING)
  if (start === -1)
    return `${content.trim() === '' ? '' : `${content.trimEnd()}\n\n`}${FACTS_HEADING}\n\n${line}\n`
  const next = lines.findIndex((candidate, index) => index > start && isMemoryHeading(candidate))
  let end = next === -1 ? lines.length : next
  while (end > start + 1 && lines[end - 1]?.trim() === '') end -= 1
  const insertion = end === start + 1 ? ['', line] : [line]
  const rest = next === -1 ? [] : ['', ...lines.slice(next)]
  return `${[...lines.slice(0, end), ...insertion, ...rest].join('\n')}\n`
}

/** Facts that differ only in case, spacing or final punctuation are the same. */
const normalizeFact = (fact: string): string =>
  fact
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.。!!\s]+$/, '')
    .trim()

/** A memory for a prompt, in at most `budget` tokens: facts that match the question first, then the newest. */
export async function memorySection(
  content: string,
  question: string,
  budget = PROMPT_TOKENS,
): Promise<MemorySection> {
  const { own, facts } = splitMemory(content)
  const lines: string[] = []
  let left = budget
  if (own !== '') {
    const shown = clip(own, facts.length === 0 ? left : Math.floor(left * OWN_SHARE))
    lines.push(shown)
    left -= tokensOf(shown)
  }
  const chosen: string[] = []
  const outside: string[] = []
  for (const fact of await ranked(facts, question)) {
    // No fact is shorter.
    if (left <= MIN_FACT_TOKENS) break
    const dated = fact.date === '' ? fact.text : `${fact.date}: ${fact.text}`
    const line = `- ${dated}`
    const cost = tokensOf(line) + 1
    if (cost > left) continue
    left -= cost
    ;(fact.untrusted ? outside : chosen).push(line)
  }
  if (chosen.length > 0) lines.push(`Remembered from earlier conversations:\n${chosen.join('\n')}`)
  return {
    trusted: lines.join('\n\n'),
    outside:
      outside.length === 0
        ? ''
        : `Remembered from earlier conversations, learned from outside text and not confirmed by the user:\n${outside.join('\n')}`,
  }
}

/**
 * Facts that share the most words with the query first, then the newest. Ranking many facts takes long, so it yields to the
 * event loop.
 */
async function ranked(facts: readonly MemoryFact[], question: string): Promise<MemoryFact[]> {
  const wanted = new Set(queryWords(question).map(({ word }) => word))
  const rated: { fact: MemoryFact; index: number; hits: number }[] = []
  for (const [index, fact] of facts.entries()) {
    if (index % FACTS_PER_SLICE === FACTS_PER_SLICE - 1)
      await new Promise((resolve) => setImmediate(resolve))
    const words = wanted.size === 0 ? [] : indexWords(fact.text)
    rated.push({ fact, index, hits: new Set(words.filter((word) => wanted.has(word))).size })
  }
  return rated
    .sort((a, b) => b.hits - a.hits || b.fact.date.localeCompare(a.fact.date) || b.index - a.index)
    .map(({ fact }) => fact)
}

/** A conservative estimate: one token per non-ASCII character, one per four ASCII characters. */
function tokensOf(text: string): number {
  let wide = 0
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 127) wide += 1
  return Math.ceil(wide + (text.length - wide) / 4)
}

function clip(text: string, budget: number): string {
  if (tokensOf(text) <= budget) return text
  let shown = text.slice(0, budget * 4)
  while (tokensOf(shown) > budget && shown.length > 0)
    shown = shown.slice(0, Math.floor(shown.length * 0.9))
  return `${shown.trimEnd()}\n[… cut]`
}

/** One's memory with that of somebody else added: their text under its own heading, their facts among the facts. Bounded as every memory. */
export function mergeMemories(content: string, added: string, heading: string): string {
  const theirs = splitMemory(added)
  const known = new Set(splitMemory(content).facts.map(({ text }) => normalizeFact(text)))
  // A heading ends the list of facts, so theirs goes below everything else.
  let merged = content.trimEnd()
  const section = `## ${heading}\n\n${theirs.own}`
  // Repeated after an interruption, it is there.
  if (theirs.own !== '' && !content.includes(section))
    merged += `${merged === '' ? '' : '\n\n'}${section}\n`
  let left = MAX_FACTS - known.size
  for (const fact of theirs.facts) {
    if (left <= 0 || known.has(normalizeFact(fact.text))) continue
    left -= 1
    merged = appendFact(merged, toFactLine(fact))
  }
  return merged.length > MAX_MEMORY_CHARACTERS ? content : merged
}
