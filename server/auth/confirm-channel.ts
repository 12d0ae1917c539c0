// The owners of the addresses of a new email channel agree to it before mail is sent to them.
import type { Language } from '../../locales/languages.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Channel } from '../protocol/programs/channel.ts'
import type { EmailLinks } from './email-links.ts'

/** Mails links to the addresses of a new email channel whose owners have not agreed yet. */
export async function confirmChannel(
  emailLinks: Pick<EmailLinks, 'unconfirmed' | 'requestConfirmation'>,
  userId: UserId,
  { type, settings }: Pick<Channel, 'type' | 'settings'>,
  language: Language,
): Promise<void> {
  if (type !== 'email') return
  const addresses = typeof settings.to === 'string' ? settings.to.split(', ') : []
  for (const address of await emailLinks.unconfirmed(userId, addresses))
    await emailLinks.requestConfirmation(userId, address, language)
}
