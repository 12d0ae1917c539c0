// The tags and fences that models write around tool calls.
import type { GatheredText } from '../openai/text-buffer.ts'

const OPENING_TAGS = ['<tool_call>', '<tool_calls>', '<function_call>']
const CLOSING_TAGS = [...OPENING_TAGS.map((tag) => tag.replace('<', '</')), '</function>']
const FUNCTION_TAG = /^<function=["']?[\w.-]{1,200}["']?>$/
const FUNCTION_TAG_START = /^<function=["'\w.-]{0,204}$/

/** Whether a fence with this language may contain calls. With any other language, it contains code. */
export const mayHoldCalls = (info: string): boolean =>
  /^(?:json[5c]?|tool|tool_calls?|tool_code|tool_use|function(?:_call)?|xml|text|plaintext)?$/i.test(
    info,
  )

/** `<tool_call>` and similar: a call in JSON or in further tags follows. */
export const isOpeningTag = (text: string): boolean => OPENING_TAGS.includes(text)

/** `<function=name>`: arguments follow. */
export const isFunctionTag = (text: string): boolean => FUNCTION_TAG.test(text)

/** Whether more text can complete an opening or a function tag. */
export const beginsOpeningTag = (text: string): boolean =>
  OPENING_TAGS.some((tag) => tag.startsWith(text)) ||
  '<function='.startsWith(text) ||
  FUNCTION_TAG_START.test(text)

/** Whether the text is a closing tag and nothing else. */
export const isClosingTag = (text: string): boolean => CLOSING_TAGS.includes(text)

/** Whether the text is the beginning of a closing tag, or all of one. */
export const beginsClosingTag = (text: string): boolean =>
  CLOSING_TAGS.some((tag) => tag.startsWith(text))

/** Whether the text ends with a closing tag. */
export const endsWithClosingTag = (text: string): boolean =>
  CLOSING_TAGS.some((tag) => text.endsWith(tag))

/** The content of a call tag without its closing tag, if it ends with one. */
export const withoutClosingTag = (content: string): string =>
  content.replace(/<\/(?:tool_calls?|function_call)>$/, '')

/** The index where a call tag ends; -1 if it does not. */
export const findClosingTag = (text: string): number =>
  text.search(/<\/(?:tool_calls?|function_call)>/)

/**
 * Whether the tag before this content is only mentioned: then words follow, while a call continues with a name or another
 * tag. Checked at each character. Decided after the first words of a line, or at its end. `midLine`: the tag follows text
 * on its line.
 */
export function isTagMentioned(content: GatheredText, last: string, isMidLine: boolean): boolean {
  if (isMidLine) return content.length < 220 && /^[\w.-]+[ \t]+[^\s<]$/.test(content.read())
  if (last !== '\n' || content.length > 2000) return false
  return /^[\w.-]+[ \t]+[^\s<][^\n<]*\n$/.test(content.read())
}
