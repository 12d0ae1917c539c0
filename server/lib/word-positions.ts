// Finds the indexed words of a text together with their positions, for snippets and phrase search.
import { foldText, indexWords, isSpaceless, runsOf, spacedWord } from './words.ts'

/** A word of the index and its position in the text, in UTF-16 offsets. */
export type WordPosition = {
  word: string
  from: number
  to: number
  /** Where its first character ends: what a single character of a query matches. */
  firstTo: number
}

/** A character with everything that may join it when it is folded: marks, conjoining Hangul, half-width voice marks. */
const CLUSTER = /[\u1100-\u11FF]+|[^\p{M}\uFF9E\uFF9F][\p{M}\uFF9E\uFF9F]*|[\p{M}\uFF9E\uFF9F]+/gsu
const ASCII = /^[\0-\x7f]*$/
const WORD = /[\p{L}\p{N}\p{M}\uFF9E\uFF9F]+|[\u{1F1E6}-\u{1F1FF}]{2}|\p{Extended_Pictographic}/gu

/** The words of a text in order, as `indexWords` splits it. */
export function wordPositions(text: string): WordPosition[] {
  const positions: WordPosition[] = []
  // Each run of word characters is folded separately, so that offsets stay exact.
  for (const match of text.matchAll(WORD)) positions.push(...positionsInRun(match[0], match.index))
  return positions
}

function positionsInRun(run: string, start: number): WordPosition[] {
  // Nearly every run: folding changes no length, so the words are where they are in the folded run.
  const lower = run.toLowerCase()
  // Letters and digits of ASCII are one word.
  if (ASCII.test(run))
    return [{ word: spacedWord(lower), from: start, to: start + run.length, firstTo: start + 1 }]
  if (lower.length === run.length && foldText(run) === lower) return positionsInFolded(lower, start)
  const clusters = [...run.matchAll(CLUSTER)].map(([cluster], index, all) => ({
    isSpaceless: isSpaceless(cluster),
    from: start + (all[index]?.index ?? 0),
    to: start + (all[index]?.index ?? 0) + cluster.length,
    text: cluster,
  }))
  const positions: WordPosition[] = []
  for (let position = 0; position < clusters.length; ) {
    const first = clusters[position]
    if (first === undefined) break
    let end = position
    while (end < clusters.length && clusters[end]?.isSpaceless === first.isSpaceless) end += 1
    const piece = clusters.slice(position, end)
    positions.push(...(first.isSpaceless ? positionsOfPairs(piece) : positionsOfWord(piece)))
    position = end
  }
  return positions
}

/** The words of a run that is folded already. */
function positionsInFolded(run: string, start: number): WordPosition[] {
  const positions: WordPosition[] = []
  for (const { text, index, isSpaceless: inPairs } of runsOf(run)) {
    const from = start + index
    if (!inPairs) {
      const [word = ''] = indexWords(text)
      positions.push({ word, from, to: from + text.length, firstTo: from + firstLength(text, 0) })
      continue
    }
    for (let position = 0; position < text.length; ) {
      const firstTo = position + firstLength(text, position)
      const to = firstTo + firstLength(text, firstTo)
      positions.push({
        word: text.slice(position, to),
        from: from + position,
        to: from + to,
        firstTo: from + firstTo,
      })
      position = firstTo
    }
  }
  return positions
}

/** Code units of the character at a position; 0 at the end. */
const firstLength = (text: string, index: number): number => {
  const point = text.codePointAt(index)
  return point === undefined ? 0 : point > 0xffff ? 2 : 1
}

type Cluster = { from: number; to: number; text: string }

/** A word of letters; folding may split it ("½" is "1⁄2"), and then each part has the position of the whole. */
function positionsOfWord(piece: readonly Cluster[]): WordPosition[] {
  const [first, last] = [piece[0], piece.at(-1)]
  if (first === undefined || last === undefined) return []
  const word = piece.map(({ text }) => text).join('')
  return indexWords(word).map((one) => ({
    word: one,
    from: first.from,
    to: last.to,
    firstTo: first.to,
  }))
}

/** Pairs of adjacent characters, and the last one alone. */
function positionsOfPairs(piece: readonly Cluster[]): WordPosition[] {
  return piece.flatMap((one, index) => {
    const next = piece[index + 1]
    const words = indexWords(one.text + (next?.text ?? ''))
    // Without a mark of its own a cluster is one character: its pair is the first word.
    const [word] = words
    return word === undefined
      ? []
      : [{ word, from: one.from, to: next?.to ?? one.to, firstTo: one.to }]
  })
}
