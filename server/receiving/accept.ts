// Something arrives from a messenger: who may write is stored, once; everybody else learns nothing but a code.
import type { Database, Writer } from '../db/database.ts'
import type { ChannelRow } from '../db/repositories/deliveries/channels.ts'
import type { ChatRow, SenderRow } from '../db/repositories/deliveries/receiving.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError, errorText } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { filled, localeTexts } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { Arrival, ArrivedFile } from '../messaging/messenger.ts'
import type { Change } from '../protocol/change.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import type { FileId, UserId } from '../protocol/ids.ts'
import type { ReceiveSettings } from '../protocol/programs/channel.ts'
import { isCommand } from './commands.ts'
import type { IncomingContent, MessageOutcome, Observe } from './content.ts'
import { errorInWords } from './error-in-words.ts'
import { codeFor, newSender, wasSeen } from './pairing.ts'
import { addNotice } from './parts.ts'
import { isOpenTo } from './permission.ts'

/** Messages that wait in a chat. */
const MAX_WAITING = 20
const MAX_TEXT = 200_000
/** What is only overheard in a chat: how many messages, and how much of each. */
const MAX_OVERHEARD = 50
const MAX_OVERHEARD_TEXT = 4_000
const MAX_NAME = 200
const MAX_FILES = 10
const FILE_TIMEOUT_MS = 120_000

/** What accepting needs. */
export interface AcceptDependencies {
  database: Database
  store: Store
  now(): Date
  /**
   * Stores a file for its user; `unheard`: why nobody knows what it says, if it is a recording.
   * @throws AppError why this kind of file cannot be used.
   */
  storeFile(
    userId: UserId,
    file: { name: string; bytes: Buffer; unheard: DescribedFailure },
  ): Promise<FileId>
  /**
   * What a recording says; null without a service for it.
   * @throws AppError why the service or the user's budget refuses.
   */
  transcribe: ((userId: UserId, bytes: Buffer, signal: AbortSignal) => Promise<string>) | null
  /** Whether the account may use messengers. */
  isAllowed(userId: UserId): boolean
  /** The sender who may write from the start. */
  trustedSender(channel: ChannelRow): string | null
  /** Counts a code for a stranger against what an account's channels may tell within an hour; false if that is reached. */
  mayTellCode(channel: ChannelRow): Promise<boolean>
  /** Tells a stranger something, without storing it. Never throws; false if it did not arrive. */
  tellStranger(channel: ChannelRow, arrival: Arrival, text: string): Promise<boolean>
  announce(userId: UserId, change: Change): void
  /** There is something to do in a chat. */
  wake(chatId: string): void
  /** Something is to be sent. */
  wakeOutbox(): void
  observe: Observe
  log: { warn(details: object, message: string): void }
}

/** Accepts one arrival. Everything that it leads to is stored when this resolves. */
export async function accept(
  channel: ChannelRow & { receive: ReceiveSettings },
  arrival: Arrival,
  dependencies: AcceptDependencies,
): Promise<MessageOutcome> {
  const outcome = await acceptOne(channel, arrival, dependencies)
  dependencies.observe({ type: channel.type, direction: 'in', outcome })
  return outcome
}

async function acceptOne(
  channel: ChannelRow & { receive: ReceiveSettings },
  arrival: Arrival,
  dependencies: AcceptDependencies,
): Promise<MessageOutcome> {
  const { database, store, isAllowed } = dependencies
  const { text, quoted, files: given, decision } = arrival
  // A sticker that answers somebody says nothing either.
  const isAbout = quoted.trim() !== '' && arrival.isUnread !== true
  const isEmpty = text.trim() === '' && !isAbout && given.length === 0 && decision === null
  // Such as that somebody has joined.
  if (isEmpty && arrival.isUnread !== true) return 'ignored'
  const sender = await senderOf(channel, arrival, dependencies)
  if (sender?.state === 'blocked') return 'ignored'
  const { isPrivate } = arrival.chat
  if (sender?.state !== 'allowed' || sender.userId === null) {
    if (!isPrivate) return await overhear(channel, arrival, null, dependencies)
    return await meetStranger(channel, arrival, dependencies)
  }
  if (!sender.isActive || !isAllowed(sender.userId)) return 'ignored'
  // Nobody acts as another account under the rules of the channel's owner.
  if (!(await isOpenTo(channel, sender.userId, store))) return 'ignored'
  if (!isPrivate && arrival.decision === null) {
    const { groups } = channel.receive
    if (groups === 'off') return 'ignored'
    if (groups === 'mention' && !arrival.isAddressed)
      return await overhear(channel, arrival, sender, dependencies)
  }
  if (wasSeen(sender, arrival.id)) return 'duplicate'
  if (await store.receiving.isKnown(database.read, channel.id, arrival.id)) return 'duplicate'
  if (isEmpty) {
    // Others in a group are not interrupted.
    if (!isPrivate && !arrival.isAddressed) return 'ignored'
    return await tellUnread(channel, arrival, { ...sender, userId: sender.userId }, dependencies)
  }
  // Read before the transaction, which others wait for.
  const files = await readFiles(sender.userId, arrival, dependencies)
  const chat = await storeArrival(
    channel,
    arrival,
    { ...sender, userId: sender.userId },
    files,
    dependencies,
  )
  if (chat === null) return 'duplicate'
  dependencies.wake(chat.id)
  return 'accepted'
}

/** Who wrote, if they are known. The one whom the settings name is known from the start. */
async function senderOf(
  channel: ChannelRow,
  arrival: Arrival,
  { database, store, now, trustedSender }: AcceptDependencies,
) {
  const known = await store.receiving.sender(database.read, channel.id, arrival.sender.id)
  // Also in a group where they write first: the messenger says who they are.
  const isTrusted = arrival.sender.id === trustedSender(channel)
  if (!isTrusted || (known !== undefined && known.state !== 'pending')) return known
  const at = now()
  const allowed = {
    state: 'allowed' as const,
    userId: channel.userId,
    allowedAt: at,
    codeHash: null,
  }
  await database.write(async (tx) => {
    await store.receiving.addSender(tx, {
      ...newSender(channel.id, arrival.sender, at),
      ...allowed,
    })
    if (known !== undefined) await store.receiving.changeSender(tx, channel.id, known.id, allowed)
    await store.audit.record(
      tx,
      { userId: channel.userId, username: null, address: null, details: { by: 'settings' } },
      {
        action: 'sender_allowed',
        at,
        details: { channel: channel.name, sender: arrival.sender.id },
      },
    )
  })
  return await store.receiving.sender(database.read, channel.id, arrival.sender.id)
}

/** A stranger gets a code, and nothing of what they wrote is kept. */
async function meetStranger(
  channel: ChannelRow,
  arrival: Arrival,
  dependencies: AcceptDependencies,
): Promise<MessageOutcome> {
  if (!arrival.mayAnswerStranger) return 'stranger'
  const { database, now } = dependencies
  const code = await database.write((tx) => codeFor(tx, channel, arrival, dependencies))
  if (code === null) return 'stranger'
  // Whoever looks at the people of the channel sees them come.
  dependencies.announce(channel.userId, { type: 'channel', id: channel.id, change: 'updated' })
  if (!(await dependencies.mayTellCode(channel))) {
    // Nobody knows the code. The stranger is asked for no earlier than after an hour.
    await withdrawCode(channel, arrival, { codeExpiresAt: now() }, dependencies)
    return 'stranger'
  }
  const { chat } = localeTexts(textLanguage(arrival.text), 'messages')
  const isTold = await dependencies.tellStranger(channel, arrival, filled(chat.code, { code }))
  // The next message may try again.
  if (!isTold) await withdrawCode(channel, arrival, { toldAt: null }, dependencies)
  return 'stranger'
}

/** Changes what is stored of a stranger whose code did not reach them. */
const withdrawCode = (
  channel: ChannelRow,
  { sender }: Arrival,
  change: Partial<Pick<SenderRow, 'toldAt' | 'codeExpiresAt'>>,
  { database, store }: AcceptDependencies,
): Promise<void> =>
  database.write(async (tx) => {
    const stored = await store.receiving.sender(tx, channel.id, sender.id)
    if (stored !== undefined) await store.receiving.changeSender(tx, channel.id, stored.id, change)
  })

/** What is written in a group without addressing the bot is kept for a while, if somebody who is paired talks to it there. */
async function overhear(
  channel: ChannelRow & { receive: ReceiveSettings },
  arrival: Arrival,
  sender: SenderRow | null,
  { database, store, now }: AcceptDependencies,
): Promise<MessageOutcome> {
  const outcome = sender === null ? 'stranger' : 'ignored'
  if (channel.receive.groups !== 'mention' || arrival.text === '' || arrival.decision !== null)
    return outcome
  const place = { externalId: arrival.chat.id, threadId: arrival.threadId }
  const chat = await store.receiving.anyChat(database.read, channel.id, place)
  if (chat === undefined) return outcome
  await database.write(async (tx) => {
    await store.receiving.addIncoming(tx, {
      channelId: channel.id,
      externalId: arrival.id,
      chatId: chat.id,
      senderId: sender?.id ?? null,
      kind: 'overheard',
      state: 'done',
      content: {
        ...contentOf(arrival),
        text: arrival.text.slice(0, MAX_OVERHEARD_TEXT),
        isOutside: true,
      },
      createdAt: now(),
    })
    await store.receiving.removeOverheard(tx, chat.id, MAX_OVERHEARD)
  })
  return outcome
}

/** Says to a person, once, that what they sent is of a kind that cannot be read. It starts nothing. */
async function tellUnread(
  channel: ChannelRow,
  arrival: Arrival,
  sender: SenderRow & { userId: UserId },
  { database, store, now, wakeOutbox }: AcceptDependencies,
): Promise<MessageOutcome> {
  const at = now()
  const place = { externalId: arrival.chat.id, threadId: arrival.threadId }
  const known = await store.receiving.anyChat(database.read, channel.id, place)
  const conversation =
    known?.conversationId == null
      ? undefined
      : await store.conversations.find(sender.userId, known.conversationId)
  // Nothing was written: the conversation says in which language they write.
  const { chat: texts } = localeTexts(textLanguage(conversation?.title ?? ''), 'messages')
  const isNew = await database.write(async (tx) => {
    const chat = await store.receiving.ensureChat(tx, newChat(channel, arrival, sender.userId, at))
    const isStored = await store.receiving.addIncoming(tx, {
      channelId: channel.id,
      externalId: arrival.id,
      chatId: chat.id,
      senderId: sender.id,
      kind: 'message',
      state: 'dropped',
      content: null,
      createdAt: at,
    })
    if (!isStored) return false
    await addUnreadNotice(tx, chat.id, texts.kindUnread, { store, at })
    return true
  })
  if (!isNew) return 'duplicate'
  wakeOutbox()
  return 'ignored'
}

/** Milliseconds in which a chat is told once: an album is many messages. */
const UNREAD_NOTICE_MS = 60_000

const addUnreadNotice = (
  tx: Writer,
  chatId: string,
  text: string,
  adding: { store: Store; at: Date },
): Promise<boolean> =>
  addNotice(
    tx,
    chatId,
    text,
    adding,
    `unread:${Math.floor(adding.at.getTime() / UNREAD_NOTICE_MS)}`,
  )

/** Stores a message of somebody who may write. Null if it is stored already. */
async function storeArrival(
  channel: ChannelRow,
  arrival: Arrival,
  sender: SenderRow & { userId: UserId },
  { spoken, ...files }: ReadFiles,
  { database, store, now, wakeOutbox }: AcceptDependencies,
): Promise<ChatRow | null> {
  const at = now()
  const written = contentOf(arrival)
  const text = [written.text, ...spoken].filter((part) => part.trim() !== '').join('\n\n')
  const content: IncomingContent = { ...written, ...files, text: text.slice(0, MAX_TEXT) }
  // Neither what somebody else wrote nor what was said is a command.
  const isAsked = arrival.decision !== null || (!arrival.isOutside && isCommand(written.text))
  let isTold = false
  const stored = await database.write(async (tx) => {
    isTold = false
    const chat = await store.receiving.ensureChat(tx, newChat(channel, arrival, sender.userId, at))
    await tx.lock(`chat ${chat.id}`)
    const open = await store.receiving.openMessages(chat.id, tx)
    const ahead = open.filter(
      ({ state, kind }) => state === 'waiting' && (kind === 'message') !== isAsked,
    )
    const isFull = ahead.length >= MAX_WAITING
    const isNew = await store.receiving.addIncoming(tx, {
      channelId: channel.id,
      externalId: arrival.id,
      chatId: chat.id,
      senderId: sender.id,
      kind: arrival.decision !== null ? 'decision' : isAsked ? 'command' : 'message',
      state: isFull ? 'dropped' : 'waiting',
      content: isFull ? null : content,
      createdAt: at,
    })
    if (!isNew) return null
    await store.receiving.changeSender(tx, channel.id, sender.id, {
      lastAt: at,
      ...(arrival.sender.name === '' ? {} : { name: arrival.sender.name.slice(0, MAX_NAME) }),
    })
    if (isFull && !isAsked && !chat.isFullTold) {
      await tellFull(tx, chat, content.text, at, { store })
      isTold = true
    } else if (!isFull && arrival.isUnread === true) {
      const { chat: texts } = localeTexts(textLanguage(content.text), 'messages')
      await addUnreadNotice(tx, chat.id, texts.kindUnread, { store, at })
      isTold = true
    }
    return chat
  })
  if (isTold) wakeOutbox()
  return stored
}

async function tellFull(
  tx: Writer,
  chat: ChatRow,
  written: string,
  at: Date,
  { store }: Pick<AcceptDependencies, 'store'>,
): Promise<void> {
  const { chat: texts } = localeTexts(textLanguage(written), 'messages')
  await addNotice(tx, chat.id, texts.full, { store, at })
  await store.receiving.changeChat(tx, chat.id, { isFullTold: true })
}

const contentOf = ({ text, isOutside, quoted, sender, decision }: Arrival): IncomingContent => ({
  text: text.slice(0, MAX_TEXT),
  isOutside,
  quoted: quoted.slice(0, MAX_TEXT),
  senderName: sender.name.slice(0, MAX_NAME),
  files: [],
  notes: [],
  decision,
})

const newChat = (
  channel: ChannelRow,
  { chat, threadId }: Arrival,
  userId: UserId,
  createdAt: Date,
): ChatRow => ({
  id: newId(),
  channelId: channel.id,
  userId,
  externalId: chat.id,
  threadId,
  name: chat.name.slice(0, MAX_NAME),
  isPrivate: chat.isPrivate,
  conversationId: null,
  choice: null,
  isFullTold: false,
  progressId: null,
  createdAt,
})

/** What came of the files of a message. */
interface ReadFiles extends Pick<IncomingContent, 'files' | 'notes'> {
  /** What its recordings say. */
  spoken: string[]
}

/** Stores the files of a message, and reads its recordings; what cannot be used is said with it. */
async function readFiles(
  userId: UserId,
  { text, files, isUnread = false }: Pick<Arrival, 'text' | 'files' | 'isUnread'>,
  dependencies: AcceptDependencies,
): Promise<ReadFiles> {
  const found: ReadFiles = { files: [], notes: [], spoken: [] }
  const { chat: texts } = localeTexts(textLanguage(text), 'messages')
  if (isUnread) found.notes.push(texts.kindNotReceived)
  for (const file of files.slice(0, MAX_FILES))
    try {
      const isReceived = await addFile(userId, file, found, dependencies)
      if (!isReceived) found.notes.push(filled(texts.fileNotReceived, { name: file.name }))
    } catch (error) {
      if (!(error instanceof AppError))
        dependencies.log.warn({ cause: errorText(error) }, 'a received file failed')
      found.notes.push(
        error instanceof AppError
          ? `${file.name}: ${errorInWords(text, error)}`
          : filled(texts.fileNotReceived, { name: file.name }),
      )
    }
  return found
}

/** Resolves to whether the file could be received. */
async function addFile(
  userId: UserId,
  { name, isVoice = false, read }: ArrivedFile,
  { files, spoken }: ReadFiles,
  dependencies: AcceptDependencies,
): Promise<boolean> {
  const signal = AbortSignal.timeout(FILE_TIMEOUT_MS)
  const bytes = await read(signal)
  if (bytes === null) return false
  const heard = isVoice
    ? await hear(userId, bytes, signal, dependencies)
    : { unheard: storedFailure('recording_unheard') }
  if ('text' in heard) spoken.push(heard.text)
  else files.push(await dependencies.storeFile(userId, { name, bytes, unheard: heard.unheard }))
  return true
}

/** What a person says, or why nobody knows. */
async function hear(
  userId: UserId,
  bytes: Buffer,
  signal: AbortSignal,
  { transcribe, log }: AcceptDependencies,
): Promise<{ text: string } | { unheard: DescribedFailure }> {
  if (transcribe === null) return { unheard: storedFailure('recording_speech_off') }
  try {
    const text = await transcribe(userId, bytes, signal)
    return text === '' ? { unheard: storedFailure('recording_silent') } : { text }
  } catch (error) {
    log.warn({ cause: errorText(error) }, 'a recording could not be transcribed')
    if (signal.aborted) return { unheard: storedFailure('recording_too_slow') }
    const { message: detail } = error instanceof AppError ? error : appError('internal')
    return { unheard: storedFailure('recording_not_transcribed', { detail }) }
  }
}
