// Detects a trigger before the caret: `/` at the beginning lists commands, `@` lists mentions.

/** The element id of the list. */
export const SUGGESTIONS_ID = 'composer-suggestions'

/** A trigger, and the range of the text that choosing an entry replaces. */
export type Trigger = {
  kind: 'command' | 'mention'
  /** The text after the trigger character. */
  query: string
  /** The positions of the trigger character and of the caret. */
  from: number
  to: number
}

const COMMAND = /^\/([^\s/]{0,80})$/
/** Not inside a word, where it belongs to an email address. */
const MENTION = /(?:^|[^\w@.])@([^\s@]{0,200})$/

/** Finds the trigger before `caret`, a position in UTF-16 units. Null if there is none. */
export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret)
  const command = COMMAND.exec(before)?.[1]
  if (command !== undefined) return { kind: 'command', query: command, from: 0, to: caret }
  const mention = MENTION.exec(before)?.[1]
  if (mention === undefined) return null
  return { kind: 'mention', query: mention, from: caret - mention.length - 1, to: caret }
}
