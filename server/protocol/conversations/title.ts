// The title of a conversation from its first message, until the model has written one.

const MAX_TITLE_CHARACTERS = 60

/** The first line of a message, truncated at a word boundary. */
export function titleFromMessage(text: string): string {
  const line = text.trim().split('\n', 1)[0]?.replace(/\s+/g, ' ').trim() ?? ''
  if (line.length <= MAX_TITLE_CHARACTERS) return line
  const cut = line.slice(0, MAX_TITLE_CHARACTERS)
  const space = cut.lastIndexOf(' ')
  return `${space > MAX_TITLE_CHARACTERS / 2 ? cut.slice(0, space) : cut.replace(/[\uD800-\uDBFF]$/, '')}…`
}
