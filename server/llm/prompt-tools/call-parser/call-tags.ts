// The tags and fences that models write around tool calls.
import type { GatheredText } from '../../streaming/text-buffer.ts'

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
 * tag. Checked at each character. Decided after the first words of a line, after a paragraph, or if no closing tag comes for
 * long. Words that begin with the name of a tool may be a call that nobody can read. `isMidLine`: the tag follows text on its
 * line.
 */
export function isTagMentioned(
  content: GatheredText,
  last: string,
  { isMidLine, isTool }: { isMidLine: boolean; isTool: (name: string) => boolean },
): boolean {
  if (isMidLine) {
    if (content.length > 220) return false
    const [, word = ''] = /^([\w.-]+)[ \t]+[^\s<]/.exec(content.read()) ?? []
    return word !== '' && (!isTool(word) || last === '\n')
  }
  if (content.length > MAX_UNCLOSED || (last !== '\n' && content.length < MAX_UNCLOSED))
    return false
  const text = content.read()
  if (!/^[\w.-]+[ \t]+[^\s<][^<]*$/.test(text)) return false
  return /\n\s*\n$/.test(text) || content.length === MAX_UNCLOSED
}

/** Characters of words after a tag that may still be a call. */
const MAX_UNCLOSED = 400

/** Whether the content of a tag begins with the name of a tool. */
export const beginsWithTool = (content: string, isTool: (name: string) => boolean): boolean =>
  isTool(/^\s*([\w.-]+)/.exec(content)?.[1] ?? '')
