// Places in a text for models that a person should look at: what is invisible, hidden in base64, or downloads and runs something.
import { createTurns } from '../lib/turns.ts'
import type { Suspicious } from '../protocol/projects/skills.ts'

/** At most this many places of a text are listed. */
export const MAX_PLACES = 50
/** Longer lines are looked at in pieces of this length, which overlap. */
const MAX_LINE = 20_000
const OVERLAP = 500
const BASE64_CHARACTERS = 201

const INVISIBLE =
  /[\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0]|[\u034f\u180b-\u180d\u180f]|[\ufe00-\ufe0f]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}]/gu
/** Emoji, in which joiners and selectors have a visible meaning. */
const EMOJI =
  /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*/gu
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const BASE64 = /[A-Za-z0-9+/_-]+/g
const DOWNLOADS =
  /\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|downloadfile)\b/i
const RUNS =
  /^\s*(?:sudo\s+)?(?:[\w./-]{0,100}\/)?(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|perl|ruby|node|php|iex|invoke-expression)(?![\w-])/i
const SUBSTITUTES = /(?:<\(|\$\(|`)\s*(?:curl|wget)\b/i

/** What is suspicious in a text, with the numbers of lines from 1; at most `MAX_PLACES` places. */
export async function suspiciousIn(text: string): Promise<Suspicious[]> {
  const places: Suspicious[] = []
  const turns = createTurns()
  const lines = text.split(/\r?\n/)
  for (const [at, line] of lines.entries()) {
    for (const piece of piecesOf(line)) {
      await turns()
      for (const { kind, detail } of suspiciousInLine(piece, lines[at + 1])) {
        if (places.some((place) => place.line === at + 1 && place.kind === kind)) continue
        places.push({ kind, line: at + 1, detail })
        if (places.length >= MAX_PLACES) return places
      }
    }
  }
  return places
}

function* piecesOf(line: string): Generator<string> {
  let from = 0
  do {
    yield line.slice(from, from + MAX_LINE)
    from += MAX_LINE - OVERLAP
  } while (from + OVERLAP < line.length)
}

/** @param next the line below, in which a command may go on. */
function* suspiciousInLine(
  line: string,
  next = '',
): Generator<Pick<Suspicious, 'kind' | 'detail'>, void> {
  const invisible = line.replaceAll(EMOJI, '').match(INVISIBLE)
  if (invisible !== null) yield { kind: 'invisible_characters', detail: counted(invisible) }
  const direction = line.match(DIRECTION)
  if (direction !== null) yield { kind: 'direction_characters', detail: counted(direction) }
  const base64 = line.match(BASE64)?.find(({ length }) => length >= BASE64_CHARACTERS)
  if (base64 !== undefined)
    yield { kind: 'base64', detail: `${base64.slice(0, 40)}… (${base64.length} characters)` }
  const command = line.endsWith('\\') ? `${line.slice(0, -1)} ${next.slice(0, MAX_LINE)}` : line
  if (runsDownload(command))
    yield { kind: 'download_and_run', detail: command.trim().slice(0, 200) }
}

/** Whether a line of a shell gives what it downloads to a program that runs it. */
function runsDownload(line: string): boolean {
  if (!DOWNLOADS.test(line)) return false
  if (SUBSTITUTES.test(line)) return true
  const parts = line.split(/\|\|?|&&?|;/)
  const from = parts.findIndex((part) => DOWNLOADS.test(part))
  return parts.slice(from + 1).some((part) => RUNS.test(part))
}

/** The characters by number, each with how often it occurs. */
function counted(characters: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const one of characters) {
    const number = `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    counts.set(number, (counts.get(number) ?? 0) + 1)
  }
  return [...counts]
    .slice(0, 10)
    .map(([number, count]) => (count === 1 ? number : `${number} × ${count}`))
    .join(', ')
}
