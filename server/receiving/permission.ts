// Whose rules a channel follows: its owner's, or those of each person where an administrator shares it.
import type { Reader } from '../db/database.ts'
import type { ChannelRow } from '../db/repositories/deliveries/channels.ts'
import type { ChatPlace } from '../db/repositories/deliveries/receiving.ts'
import type { Store } from '../db/store.ts'
import type { UserId } from '../protocol/ids.ts'

/** Whether people may act as this account through a channel: its owner, or anybody while an active administrator shares it. */
export async function isOpenTo(
  { userId: ownerId, receive }: Pick<ChannelRow, 'userId' | 'receive'>,
  userId: UserId,
  store: Pick<Store, 'users'>,
): Promise<boolean> {
  if (receive?.shared !== true) return userId === ownerId
  const owner = await store.users.find(ownerId)
  return owner?.isActive === true && owner.role === 'admin'
}

/** Whether anything may be sent to a chat: its sender is neither blocked nor removed, and the channel is still open to them. */
export async function mayReceive(
  { chat, channel }: Pick<ChatPlace, 'chat' | 'channel'>,
  store: Pick<Store, 'users' | 'receiving'>,
  from?: Reader,
): Promise<boolean> {
  const isOwn = chat.userId === channel.userId
  if (!isOwn && !(await isOpenTo(channel, chat.userId, store))) return false
  return await store.receiving.isOfAllowed(chat.id, from)
}
