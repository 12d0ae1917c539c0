// The text that informs a conversation that one of its messages was never delivered.
import type { GivenUp } from './channels.ts'

const EXCERPT_CHARACTERS = 200

/**
 * The notice is a message, so it is stored in one language: that of the undelivered text. Reasons are stored in English
 * and translated by the page, so the Chinese notice refers to the page that shows the reason.
 */
export function givenUpNotice({
  channel,
  text,
  error,
}: Pick<GivenUp, 'channel' | 'text' | 'error'>): string {
  const excerpt = text.slice(0, EXCERPT_CHARACTERS)
  return /\p{Script=Han}/u.test(text)
    ? `发往 channel:${channel} 的消息未能送达：“${excerpt}”。原因见“设置 → 渠道”。`
    : `The message to channel:${channel} could not be delivered (${error}): “${excerpt}”`
}
