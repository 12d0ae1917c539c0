// What the text before the caret asks for: `/` at the beginning lists commands, `@` lists what can be mentioned.

/** The id of the list's element. */
export const SUGGESTIONS_ID = 'composer-suggestions'

/** The sign that a list answers, with the part of the text that choosing an entry replaces. */
export type Trigger = {
  kind: 'command' | 'mention'
  /** What follows the sign. */
  query: string
  /** The place of the sign and the caret in the text. */
  from: number
  to: number
}

const COMMAND = /^\/([^\s/]{0,80})$/
/** Not within a word, where it belongs to an email address. */
const MENTION = /(?:^|[^\w@.])@([^\s@]{0,200})$/

/** `caret` is a position in `text` in UTF-16 units. Null when no list is asked for there. */
export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret)
  const command = COMMAND.exec(before)?.[1]
  if (command !== undefined) return { kind: 'command', query: command, from: 0, to: caret }
  const mention = MENTION.exec(before)?.[1]
  if (mention === undefined) return null
  return { kind: 'mention', query: mention, from: caret - mention.length - 1, to: caret }
}
