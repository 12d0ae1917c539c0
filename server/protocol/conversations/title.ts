// The title of a conversation from its first message, until the model has written one.

const MAX_TITLE_CHARACTERS = 60
/** As much of a line as a title can come from. */
const MAX_READ_CHARACTERS = 1_000

/** The fence before code at the beginning of a message. */
const OPENING_FENCE = /^`{3,}[^\n]*\n\s*/

/** The first line of a message without the marks of code, truncated at a word boundary. */
export function titleFromMessage(text: string): string {
  const [first = ''] = text.trim().replace(OPENING_FENCE, '').split('\n', 1)
  const line = first
    .slice(0, MAX_READ_CHARACTERS)
    .replace(/(`+)([^`]+)\1/g, '$2')
    .replace(/\s+/g, ' ')
    .trim()
  if (line.length <= MAX_TITLE_CHARACTERS) return line
  const cut = line.slice(0, MAX_TITLE_CHARACTERS)
  const space = cut.lastIndexOf(' ')
  return `${space > MAX_TITLE_CHARACTERS / 2 ? cut.slice(0, space) : cut.replace(/[\uD800-\uDBFF]$/, '')}…`
}
