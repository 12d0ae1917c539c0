// In whose name decisions are made that come from a chat, and how they are known afterwards.
import type { ChatPlace } from '../db/repositories/deliveries/receiving.ts'
import type { Store } from '../db/store.ts'
import type { Actor } from '../protocol/admin/audit.ts'

/** The way by which a decision in a chat of the channel came, as it is stored with the decision. */
export const doorOf = ({ name }: Pick<ChatPlace['channel'], 'name'>): string => `channel:${name}`

/** The account of a chat, with who acts for it there. @param sender as the messenger identifies them. */
export async function actorIn(
  { chat, channel }: Pick<ChatPlace, 'chat' | 'channel'>,
  sender: string,
  store: Pick<Store, 'users'>,
): Promise<Actor> {
  const user = await store.users.find(chat.userId)
  return {
    userId: chat.userId,
    username: user?.username ?? null,
    address: null,
    details: { by: doorOf(channel), sender },
  }
}
