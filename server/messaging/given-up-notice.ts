// The text that informs a conversation that one of its messages was never delivered.
import { filled, localeTexts, refusalIn } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import { fillIn } from '../protocol/failures.ts'
import type { GivenUp } from './channels.ts'

const EXCERPT_CHARACTERS = 200

/** The notice is a message, so it is stored in one language: that of the undelivered text. */
export function givenUpNotice({
  channel,
  text,
  failure,
}: Pick<GivenUp, 'channel' | 'text' | 'failure'>): string {
  const language = textLanguage(text)
  const reason = refusalIn(language, failure.message, failure, fillIn)
  const excerpt = text.slice(0, EXCERPT_CHARACTERS)
  return filled(localeTexts(language, 'messages').undelivered, { channel, reason, excerpt })
}
