// Reads a content chunk without parsing when it differs from an earlier one only in the text.

/** Most chunks of a stream are the same line around another few characters; this is that line. */
export interface ChunkTemplate {
  /** The content of a matching line, the part of `text` from `from` up to `to`; undefined when it must be parsed. */
  match(text: string, from: number, to: number): string | undefined
  /** Learns from a line that was parsed as a chunk with this text in its field and nothing else. */
  learn(line: string, content: string): void
}

/** A stream whose lines never match (a random field in each) stops trying after this many lines. */
const MAX_LESSONS = 4

/**
 * Sound, because a match only replaces the inside of one JSON string by text without quotes, backslashes and control
 * characters: the rest of the line is the line that was parsed.
 */
export function createChunkTemplate(field: 'content' | 'reasoning_content'): ChunkTemplate {
  let prefix = ''
  let suffix = ''
  let lessons = 0
  return {
    match(text, from, to) {
      const start = from + prefix.length
      const end = to - suffix.length
      if (prefix === '' || start > end) return undefined
      if (!text.startsWith(suffix, end) || !text.startsWith(prefix, from)) return undefined
      const content = text.slice(start, end)
      return isPlain(content) ? content : undefined
    },
    learn(line, content) {
      if (lessons >= MAX_LESSONS || content === '' || !isPlain(content)) return
      lessons += 1
      const at = line.indexOf(`"${content}"`)
      if (at === -1) return
      const before = line.slice(0, at + 1)
      const after = line.slice(at + 1 + content.length)
      // The same text may occur elsewhere in the line, so the occurrence must be the one that is read as content.
      const probe = `${before}probe-${content}${after}`
      if (deltaField(probe, field) !== `probe-${content}`) return
      prefix = before
      suffix = after
    },
  }
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22 || code === 0x5c || code < 0x20) return false
  }
  return true
}

function deltaField(line: string, field: string): unknown {
  try {
    // The line may have any shape; a missing level throws and does not match.
    const parsed = JSON.parse(line) as { choices: { delta: Record<string, unknown> }[] }
    return parsed.choices[0]?.delta[field]
  } catch {
    return undefined
  }
}
