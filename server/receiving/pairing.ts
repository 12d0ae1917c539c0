// How a person at a messenger becomes somebody: a code, told to them and typed in by a signed-in user.
import { createHash, randomInt } from 'node:crypto'
import type { Writer } from '../db/database.ts'
import type { ChannelRow } from '../db/repositories/deliveries/channels.ts'
import type { SenderRow } from '../db/repositories/deliveries/receiving.ts'
import type { Store } from '../db/store.ts'
import { newId } from '../lib/ids.ts'
import type { Arrival } from '../messaging/messenger.ts'

/** Without characters that look like others. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const CODE_LENGTH = 8
const HOUR_MS = 3_600_000
/** How many strangers of a channel may have a code at once. */
const MAX_PENDING = 3
const MAX_NAME = 200
/** How many messages of a stranger are known, so that they start nothing later. */
const MAX_SEEN = 200

/** The hash under which a code is stored; spaces, dashes and case do not matter. */
export const hashCode = (code: string): string =>
  createHash('sha256').update(code.toUpperCase().replaceAll(/[\s-]/g, '')).digest('hex')

const newCode = (): string =>
  Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** One transaction at a time decides who is known to a channel. */
export const lockSenders = (tx: Writer, channelId: string): Promise<void> =>
  tx.lock(`senders of ${channelId}`)

/**
 * Gives a stranger a code, at most once an hour, and while at most two others have one. Nothing of the message is stored.
 * Returns the code to tell them; null for nothing.
 */
export async function codeFor(
  tx: Writer,
  channel: Pick<ChannelRow, 'id'>,
  { id: message, sender }: Pick<Arrival, 'id' | 'sender'>,
  { store, now }: { store: Pick<Store, 'receiving'>; now(): Date },
): Promise<string | null> {
  const at = now()
  await lockSenders(tx, channel.id)
  // Read under the lock: several messages of one stranger may arrive at once.
  const known = await store.receiving.sender(tx, channel.id, sender.id)
  if (known !== undefined && known.state !== 'pending') return null
  const seen = withSeen(known?.seen ?? null, message)
  // What they wrote as a stranger starts nothing, also if it comes again when they are paired.
  if (known !== undefined && seen !== known.seen)
    await store.receiving.changeSender(tx, channel.id, known.id, { seen })
  const isTold = known?.toldAt != null && at.getTime() - known.toldAt.getTime() < HOUR_MS
  if (isTold) return null
  const id = known?.id ?? newId()
  if ((await store.receiving.countPending(tx, channel.id, id, at)) >= MAX_PENDING) return null
  const code = newCode()
  const told = {
    codeHash: hashCode(code),
    codeExpiresAt: new Date(at.getTime() + HOUR_MS),
    toldAt: at,
    requestedAt: at,
    lastAt: at,
  }
  if (known === undefined)
    await store.receiving.addSender(tx, {
      ...newSender(channel.id, sender, at),
      ...told,
      id,
      seen,
    })
  else await store.receiving.changeSender(tx, channel.id, known.id, told)
  return code
}

const hashOf = (message: string): string =>
  createHash('sha256').update(message).digest('base64url').slice(0, 16)

function withSeen(seen: string[] | null, message: string): string[] {
  const hash = hashOf(message)
  if (seen?.includes(hash) === true) return seen
  return [...(seen ?? []), hash].slice(-MAX_SEEN)
}

/** Whether a person wrote this before they were paired. */
export const wasSeen = ({ seen }: Pick<SenderRow, 'seen'>, message: string): boolean =>
  seen?.includes(hashOf(message)) === true

/** A sender who has just written for the first time. */
export const newSender = (
  channelId: string,
  { id, name }: Arrival['sender'],
  at: Date,
): SenderRow => ({
  id: newId(),
  channelId,
  userId: null,
  externalId: id,
  name: name.slice(0, MAX_NAME),
  state: 'pending',
  codeHash: null,
  codeExpiresAt: null,
  toldAt: null,
  seen: null,
  requestedAt: at,
  allowedAt: null,
  lastAt: at,
})
