// What goes out to a chat is stored first, in order; then it is sent as the messenger wants it.
import type { Writer } from '../db/database.ts'
import type { DuePart } from '../db/repositories/deliveries/outgoing-parts.ts'
import type { Store } from '../db/store.ts'
import { newId } from '../lib/ids.ts'
import { filled, localeTexts } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { CardCall, Messenger, OutgoingPart, PartOutcome } from '../messaging/messenger.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { AnswerFiles } from './answer-files.ts'
import { type MessageOutcome, PartContent } from './content.ts'
import type { MessageLinks } from './links.ts'
import { mayReceive } from './permission.ts'
import { splitText } from './split-text.ts'

/** An older answer is not sent any more. */
const MAX_AGE_MS = 6 * 3_600_000

interface Adding {
  store: Pick<Store, 'parts'>
  at: Date
}

/** Stores a part behind the others of its chat; with a `reference` only once. Returns whether it was stored. */
export const addPart = (
  tx: Writer,
  chatId: string,
  part: PartContent,
  { store, at }: Adding,
  reference: string | null = null,
  id: string = newId(),
): Promise<boolean> =>
  store.parts.add(tx, {
    id,
    chatId,
    reference,
    content: JSON.stringify(part),
    createdAt: at,
  })

/** Stores a short text for a person. */
export const addNotice = (
  tx: Writer,
  chatId: string,
  text: string,
  adding: Adding,
  reference: string | null = null,
): Promise<boolean> => addPart(tx, chatId, { type: 'notice', text }, adding, reference)

/** Stores an answer in parts that the messenger can take; the last one has the id `lastId`, if that is given. */
export async function addAnswer(
  tx: Writer,
  chatId: string,
  {
    text,
    max,
    reference,
    lastId,
  }: { text: string; max: number; reference: string; lastId?: string },
  adding: Adding,
): Promise<void> {
  const parts = splitText(text, max)
  for (const [index, part] of parts.entries())
    await addPart(
      tx,
      chatId,
      { type: 'answer', text: part, first: index === 0 },
      adding,
      `${reference}:${index}`,
      index === parts.length - 1 ? lastId : undefined,
    )
}

/** What sending parts needs. */
export interface SendDependencies extends Pick<MessageLinks, 'conversationUrl' | 'waitingUrl'> {
  store: Store
  now(): Date
  messengerOf(type: string): Messenger | null
  settingsOf(channel: DuePart['channel']): unknown
  /** Where people write to the channel, if it has an address of its own. */
  addressOf(channel: DuePart['channel']): string | null
  answerFiles: AnswerFiles
}

/** Makes one attempt to send a part; `counts`: as what it is counted. */
export async function sendPart(
  { delivery, chat, channel }: DuePart,
  dependencies: SendDependencies,
  signal: AbortSignal,
): Promise<{ outcome: PartOutcome; counts: MessageOutcome | null }> {
  const messenger = dependencies.messengerOf(channel.type)
  if (messenger === null)
    return {
      outcome: { ok: false, failure: storedFailure('delivery_channel_kind_gone'), retry: false },
      counts: 'failed',
    }
  // Whoever was blocked or removed meanwhile gets nothing.
  if (!(await mayReceive({ chat, channel }, dependencies.store)))
    return { outcome: { ok: true }, counts: null }
  const isOld = dependencies.now().getTime() - delivery.createdAt.getTime() > MAX_AGE_MS
  const content = PartContent.parse(JSON.parse(delivery.content))
  const part = await outgoing(content, { chat, isOld }, dependencies)
  if (part === null) return { outcome: { ok: true }, counts: isOld ? 'expired' : null }
  const outcome = await messenger.send(
    dependencies.settingsOf(channel),
    {
      chatId: chat.externalId,
      threadId: chat.threadId,
      name: chat.name,
      address: dependencies.addressOf(channel),
      inReplyTo:
        messenger.addressOf === undefined
          ? null
          : await dependencies.store.receiving.newestId(chat.id),
    },
    { ...part, id: delivery.id },
    signal,
  )
  if (!outcome.ok) return { outcome, counts: outcome.retry ? null : 'failed' }
  return { outcome, counts: isOld && content.type === 'answer' ? 'expired' : 'delivered' }
}

/** A stored part as it is sent; null for one that is no longer of use. */
async function outgoing(
  content: PartContent,
  { chat, isOld }: { chat: DuePart['chat']; isOld: boolean },
  dependencies: SendDependencies,
): Promise<OutgoingPart | null> {
  const { store } = dependencies
  const url = dependencies.conversationUrl(chat.conversationId)
  const textsFor = (text: string) => localeTexts(textLanguage(text), 'messages').chat
  switch (content.type) {
    case 'answer':
      if (!isOld) return { type: 'text', text: content.text }
      if (!content.first) return null
      return { type: 'text', text: filled(textsFor(content.text).old, { url }).trim() }
    case 'notice':
      return isOld ? null : { type: 'text', text: content.text }
    case 'file': {
      if (isOld) return null
      const { name, mime } = content
      const bytes = await dependencies.answerFiles.read(chat.userId, content.from)
      if (bytes === null) return null
      if (bytes === 'too_large')
        return { type: 'text', text: filled(textsFor(name).fileTooLarge, { name, url }).trim() }
      return { type: 'file', name, mime, bytes, url: url === '' ? null : url }
    }
    case 'card': {
      const texts = textsFor(content.text)
      return {
        type: 'card',
        text: content.text,
        call: callOf(content, dependencies),
        approve: content.canApprove ? texts.approve : null,
        reject: texts.reject,
      }
    }
    case 'undo': {
      const texts = textsFor(content.text)
      return {
        type: 'card',
        text: content.text,
        call: callOf(content, dependencies),
        approve: texts.undoYes,
        reject: texts.undoNo,
      }
    }
    case 'settled': {
      const card = await store.parts.find(content.of)
      const asked =
        card === undefined ? undefined : PartContent.parse(JSON.parse(card.delivery.content))
      return {
        type: 'settled',
        externalId: card?.delivery.externalId ?? null,
        text: content.text,
        of:
          asked?.type === 'card' || asked?.type === 'undo'
            ? { id: content.of, call: callOf(asked, dependencies) }
            : null,
      }
    }
    case 'end':
      return { type: 'end' }
  }
}

/** What a card asks, for programs. */
const callOf = (
  card: Extract<PartContent, { type: 'card' | 'undo' }>,
  { waitingUrl }: Pick<SendDependencies, 'waitingUrl'>,
): CardCall =>
  card.type === 'undo'
    ? { name: 'undo', riskLevel: null, preview: card.text, url: null }
    : {
        name: card.name,
        riskLevel: card.riskLevel,
        preview: card.preview,
        url: waitingUrl(),
      }
