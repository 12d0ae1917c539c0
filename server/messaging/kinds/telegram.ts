// Telegram: messages from the user's bot, and what people write to it, by long polling of the Bot API.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { looseList, readableOf } from '../../lib/loose-list.ts'
import type { FetchOutcome, GuardedFetch } from '../../net/guarded-fetch.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import { defineChannelKind, type SendOutcome, type TestOutcome } from '../channel-kind.ts'
import {
  type Arrival,
  type ArrivedFile,
  type Destination,
  type Inbox,
  type OutgoingPart,
  type PartOutcome,
  ReceivingEnded,
  SKIP_UNREAD,
} from '../messenger.ts'
import { FETCH_REASONS } from '../post.ts'

// Markdown as models write it, in the few HTML tags that Telegram knows.

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const FENCED =
  /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n {0,3}\1[`~]*[ \t]*(?=\n|$)|$(?![\s\S]))/gm
const CODE = /`([^`\n]+)`/g

/** The text with code, bold, links and headings marked; everything else is as it was. */
function telegramHtml(text: string): string {
  let html = ''
  let end = 0
  for (const found of text.matchAll(FENCED)) {
    html += proseHtml(text.slice(end, found.index))
    html += `<pre>${escaped(found[2] ?? '')}</pre>`
    end = found.index + found[0].length
  }
  return html + proseHtml(text.slice(end))
}

function proseHtml(text: string): string {
  let html = ''
  let end = 0
  for (const found of text.matchAll(CODE)) {
    html += markedHtml(text.slice(end, found.index))
    html += `<code>${escaped(found[1] ?? '')}</code>`
    end = found.index + found[0].length
  }
  return html + markedHtml(text.slice(end))
}

/** Bold, headings and links. Tags never cross a line, so they are always closed. */
const markedHtml = (text: string): string =>
  escaped(text)
    .replaceAll(/^#{1,6} +([^\n]+)$/gm, '<b>$1</b>')
    .replaceAll(/\*\*([^*\n]+)\*\*/g, '<b>$1</b>')
    .replaceAll(/\[([^\]\n]+)\]\((https?:\/\/[^\s)"]+)\)/g, '<a href="$2">$1</a>')

/** Telegram's limit for one message, in UTF-16 units. */
const MAX_CHARACTERS = 4_096
/** Seconds that Telegram waits for something to arrive. */
const POLL_SECONDS = 25
const TIMEOUT_MS = 20_000
const MAX_ANSWER_BYTES = 8_000_000
const MAX_FILE_BYTES = 20 * 1024 * 1024

const Settings = z.object({
  bot_token: z.string().regex(/^\d+:[\w-]{20,100}$/, { error: 'a bot token from BotFather' }),
  chat_id: z
    .union([z.int().transform(String), z.string().regex(/^(-?\d{1,20}|@\w{5,40})$/)], {
      error: 'a chat ID or @channel',
    })
    .optional(),
})
type Settings = z.infer<typeof Settings>

const Id = z.union([z.int(), z.string().min(1).max(64)]).transform(String)
/** A field that a message can be read without: one of another form is absent. */
const loose = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined)
const Person = z.object({
  id: Id,
  /** What may be a program counts as one. */
  is_bot: z.boolean().optional().catch(true),
  first_name: loose(z.string()),
  last_name: loose(z.string()),
  username: loose(z.string()),
})
const File = z.object({
  file_id: z.string(),
  file_name: loose(z.string()),
  file_size: loose(z.number()),
})
const Place = z.object({ latitude: z.number(), longitude: z.number() })
/** What a message can hold besides texts and files, and nobody reads here. */
const UNREAD = [
  'video',
  'video_note',
  'sticker',
  'poll',
  'dice',
  'game',
  'story',
  'paid_media',
  'checklist',
] as const
const Message = z.object({
  message_id: z.int(),
  from: loose(Person),
  chat: z.object({ id: Id, type: z.string(), title: loose(z.string()) }),
  message_thread_id: loose(z.int()),
  is_topic_message: loose(z.boolean()),
  text: loose(z.string()),
  caption: loose(z.string()),
  forward_origin: z.unknown().optional(),
  reply_to_message: loose(
    z.object({ from: loose(Person), text: loose(z.string()), caption: loose(z.string()) }),
  ),
  /** The part of that message which the person chose. */
  quote: loose(z.object({ text: z.string() })),
  photo: looseList(File),
  document: loose(File),
  voice: loose(File),
  audio: loose(File),
  location: loose(Place),
  venue: loose(z.object({ title: loose(z.string()), address: loose(z.string()), location: Place })),
  contact: loose(
    z.object({
      phone_number: z.string(),
      first_name: loose(z.string()),
      last_name: loose(z.string()),
    }),
  ),
  ...Object.fromEntries(UNREAD.map((kind) => [kind, z.unknown().optional()])),
})
type Message = z.infer<typeof Message>
const UpdateId = z.object({ update_id: z.int().min(0) })
const Update = UpdateId.extend({
  message: Message.optional(),
  callback_query: z
    .object({ id: z.string(), from: Person, data: loose(z.string()), message: loose(Message) })
    .optional(),
})
type Update = z.infer<typeof Update>
const Updates = z.array(z.unknown())
const Answer = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  error_code: z.number().optional(),
  description: z.string().optional(),
})

/** How the Bot API answers a call. */
type Called =
  | { ok: true; result: unknown }
  | { ok: false; status: number | null; description: string; fault: SendOutcome & { ok: false } }

/** The Bot API. `apiUrl` replaces its address, for tests and self-hosted servers. */
interface Bot {
  fetch: GuardedFetch
  apiUrl: string
}

/** `apiUrl` replaces the address of the Bot API, for tests and self-hosted servers. */
export function createTelegramKind(dependencies: {
  fetch: GuardedFetch
  apiUrl?: string | undefined
}) {
  const bot: Bot = {
    fetch: dependencies.fetch,
    apiUrl: dependencies.apiUrl ?? 'https://api.telegram.org',
  }
  return defineChannelKind({
    type: 'telegram',
    settings: Settings,
    present: ({ chat_id }) => (chat_id === undefined ? {} : { chat_id }),
    kept: ['bot_token'],
    test: (settings, signal) => testBot(bot, settings, signal),
    async send(settings, message, signal) {
      const chatId = settings.chat_id ?? message.to?.chatId
      if (chatId === undefined)
        return { ok: false, failure: storedFailure('delivery_no_chat'), retry: false }
      let outcome: SendOutcome = { ok: true }
      for (let start = 0; start < message.text.length && outcome.ok; start += MAX_CHARACTERS) {
        const text = message.text.slice(start, start + MAX_CHARACTERS)
        const sent = await call(bot, settings, 'sendMessage', { chat_id: chatId, text }, signal)
        // Whatever a self-hosted server says beside it, 2xx means that it took the message.
        const isTaken = sent.ok || (sent.status !== null && sent.status < 300)
        outcome = isTaken ? { ok: true } : sent.fault
      }
      return outcome
    },
    messenger: {
      maxCharacters: MAX_CHARACTERS,
      // All of it: who knows only the number of a bot does not occupy it.
      botOf: ({ bot_token }) => bot_token,
      // The id of a private chat is that of the person.
      trustedSender: ({ chat_id }) => chat_id ?? null,
      receive: (settings, inbox, signal) => receive(bot, settings, inbox, signal),
      send: (settings, to, part, signal) => sendPart(bot, settings, to, part, signal),
      showProgress: (settings, to, progress, signal) =>
        showProgress(bot, settings, to, progress, signal),
      async showTyping(settings, to, signal) {
        await call(bot, settings, 'sendChatAction', { ...placeOf(to), action: 'typing' }, signal)
      },
    },
  })
}

const placeOf = ({ chatId, threadId }: Destination): Record<string, unknown> => ({
  chat_id: chatId,
  ...(threadId === '' ? {} : { message_thread_id: Number(threadId) }),
})

/** Calls a method of the Bot API. */
async function call(
  { fetch, apiUrl }: Bot,
  { bot_token }: Settings,
  method: string,
  body: Record<string, unknown> | FormData,
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<Called> {
  const isForm = body instanceof FormData
  const response = await fetch(`${apiUrl}/bot${bot_token}/${method}`, {
    method: 'POST',
    body: isForm ? body : JSON.stringify(body),
    ...(isForm ? {} : { headers: { 'content-type': 'application/json' } }),
    signal,
    timeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
    trusted: true,
  })
  return readAnswer(response)
}

function readAnswer(response: FetchOutcome): Called {
  if (!response.ok)
    return {
      ok: false,
      status: null,
      description: '',
      fault: { ok: false, failure: storedFailure(FETCH_REASONS[response.fault]), retry: true },
    }
  const { status } = response
  const answer = Answer.safeParse(parsed(response.body))
  if (status >= 200 && status < 300 && answer.success && answer.data.ok)
    return { ok: true, result: answer.data.result }
  const isBusy = status >= 500 || [408, 425, 429].includes(status) || status < 300
  return {
    ok: false,
    status,
    description: answer.data?.description ?? '',
    fault: { ok: false, failure: storedFailure('delivery_refused', { status }), retry: isBusy },
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return null
  }
}

const Me = z.object({ id: Id, username: z.string().optional() })

/** Asks who the bot is, whether its messages go elsewhere, and whether it knows its chat. @throws ReceivingEnded */
async function testBot(bot: Bot, settings: Settings, signal: AbortSignal): Promise<TestOutcome> {
  const me = Me.safeParse(resultOf(await call(bot, settings, 'getMe', {}, signal))).data
  const hook = await call(bot, settings, 'getWebhookInfo', {}, signal)
  const hookUrl = hook.ok ? z.object({ url: z.string() }).safeParse(hook.result).data?.url : ''
  if (hookUrl !== undefined && hookUrl !== '')
    return { ok: false, failure: storedFailure('channel_bot_conflict') }
  const { chat_id } = settings
  if (chat_id !== undefined) {
    const chat = await call(bot, settings, 'getChat', { chat_id }, signal)
    if (!chat.ok && (chat.status === 400 || chat.status === 403))
      return { ok: false, failure: storedFailure('channel_chat_unknown') }
    resultOf(chat)
  }
  return { ok: true, bot: me?.username === undefined ? null : `@${me.username}` }
}

/** Asks for updates until the signal aborts. They are confirmed by the next request, after everything is stored. */
async function receive(
  bot: Bot,
  settings: Settings,
  inbox: Inbox,
  signal: AbortSignal,
): Promise<void> {
  const me = Me.parse(resultOf(await call(bot, settings, 'getMe', {}, signal)))
  let offset = await firstOffset(bot, settings, inbox, signal)
  await inbox.connected()
  while (!signal.aborted) {
    const answer = await getUpdates(bot, settings, { offset, seconds: POLL_SECONDS }, signal)
    if (signal.aborted) return
    const given = Updates.parse(resultOf(answer))
    const last = lastId(given)
    // Asked again at once, an answer without any place to go on from would come again.
    if (last === null && given.length > 0) throw new Error('no update has a number')
    if (last === null) continue
    const updates = readableOf(Update, given)
    if (updates.length < given.length) inbox.unreadable(given.length - updates.length)
    const arrivals = updates.flatMap((one) => arrivalOf(bot, settings, one, me) ?? [])
    const taken = inbox.take(arrivals, String(last + 1))
    const isTaken = taken.then(() => true)
    while (!(await Promise.race([isTaken, sleep(ASIDE_MS, false, { ref: false })])))
      await obeyMeanwhile(bot, settings, { offset, after: last, me, inbox }, signal)
    offset = last + 1
    await answerPressed(bot, settings, updates, signal)
    await inbox.connected()
  }
}

/** Waits for what has arrived from `offset` on, or from the first that is not confirmed. */
const getUpdates = (
  bot: Bot,
  settings: Settings,
  { offset, seconds }: { offset: number | null; seconds: number },
  signal: AbortSignal,
): Promise<Called> =>
  call(
    bot,
    settings,
    'getUpdates',
    {
      ...(offset === null ? {} : { offset }),
      timeout: seconds,
      allowed_updates: ['message', 'callback_query'],
    },
    signal,
    (seconds + 15) * 1_000,
  )

/** Milliseconds for which a batch is stored before what people decide or command meanwhile is looked for. */
const ASIDE_MS = 500

/**
 * While a large file or a recording is read, takes the buttons and commands that have arrived behind it, so that a run stops when its
 * person says so. The place stays, so that they are given again with the others, and then are known.
 */
async function obeyMeanwhile(
  bot: Bot,
  settings: Settings,
  {
    offset,
    after,
    me,
    inbox,
  }: { offset: number | null; after: number; me: z.infer<typeof Me>; inbox: Inbox },
  signal: AbortSignal,
): Promise<void> {
  const answer = await getUpdates(bot, settings, { offset, seconds: 0 }, signal)
  const given = answer.ok ? Updates.safeParse(answer.result) : undefined
  // The batch is asked for again, which says what is wrong.
  if (given?.success !== true) return
  const asides = readableOf(Update, given.data).filter(
    ({ update_id: update, message, callback_query: pressed }) =>
      update > after && (pressed !== undefined || message?.text?.startsWith('/') === true),
  )
  await inbox.take(asides.flatMap((one) => arrivalOf(bot, settings, one, me) ?? []))
  await answerPressed(bot, settings, asides, signal)
}

/** Ends the waiting that Telegram shows at a button. */
async function answerPressed(
  bot: Bot,
  settings: Settings,
  updates: readonly Update[],
  signal: AbortSignal,
): Promise<void> {
  for (const { callback_query: pressed } of updates)
    if (pressed !== undefined)
      await call(bot, settings, 'answerCallbackQuery', { callback_query_id: pressed.id }, signal)
}

/** The highest number of updates; null if none has one. */
const lastId = (updates: readonly unknown[]): number | null =>
  readableOf(UpdateId, updates).reduce<number | null>(
    (last, { update_id }) => Math.max(last ?? 0, update_id),
    null,
  )

/** Where receiving begins; after a pause, behind everything that has arrived meanwhile. */
async function firstOffset(
  bot: Bot,
  settings: Settings,
  inbox: Inbox,
  signal: AbortSignal,
): Promise<number | null> {
  if (inbox.place === null) return null
  if (inbox.place !== SKIP_UNREAD) return Number(inbox.place)
  const newest = await call(bot, settings, 'getUpdates', { offset: -1, timeout: 0 }, signal)
  const last = lastId(Updates.parse(resultOf(newest)))
  const next = last === null ? null : last + 1
  await inbox.take([], next === null ? null : String(next))
  return next
}

/** The result of a call. @throws ReceivingEnded */
function resultOf(called: Called): unknown {
  if (called.ok) return called.result
  const { status } = called
  if (status === 409) throw new ReceivingEnded('conflict', storedFailure('channel_bot_conflict'))
  if (status === 401 || status === 404)
    throw new ReceivingEnded('error', storedFailure('channel_bot_refused'))
  throw new ReceivingEnded('connecting', called.fault.failure)
}

/** What an update says; null for what nobody is meant to act on. */
function arrivalOf(
  bot: Bot,
  settings: Settings,
  { update_id: update, message: written, callback_query: pressed }: Update,
  me: { id: string; username?: string | undefined },
): Arrival | null {
  const message = written ?? pressed?.message
  const from = pressed?.from ?? written?.from
  if (message === undefined || from === undefined || from.is_bot === true) return null
  const text = pressed === undefined ? (message.text ?? message.caption ?? placeText(message)) : ''
  const button = /^([ar]):([\w-]{1,38})$/.exec(pressed?.data ?? '')
  if (pressed !== undefined && button === null) return null
  const replied = pressed === undefined ? message.reply_to_message : undefined
  const isReply = replied?.from?.id === me.id
  const isPrivate = message.chat.type === 'private'
  const name = [from.first_name, from.last_name].filter(Boolean).join(' ')
  return {
    id: `update:${update}`,
    chat: {
      id: message.chat.id,
      name: message.chat.title ?? name,
      isPrivate,
    },
    threadId: message.is_topic_message === true ? String(message.message_thread_id ?? '') : '',
    sender: { id: from.id, name: name === '' ? (from.username ?? from.id) : name },
    text,
    isAddressed: isReply || (me.username !== undefined && mentions(text, me.username)),
    isOutside: message.forward_origin !== undefined,
    // What the person and the bot wrote to each other is in the conversation.
    quoted: [
      isPrivate || isReply ? '' : (message.quote?.text ?? replied?.text ?? replied?.caption ?? ''),
      pressed === undefined ? venueText(message) : '',
      pressed === undefined ? contactText(message) : '',
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
    files: pressed === undefined ? filesOf(bot, settings, message) : [],
    isUnread: pressed === undefined && UNREAD.some((kind) => kind in message),
    decision:
      button?.[2] === undefined
        ? null
        : { part: button[2], choice: button[1] === 'a' ? 'approve' : 'reject' },
    mayAnswerStranger: pressed === undefined,
  }
}

/** Where a person says that they or something are: its coordinates, as maps read them. */
function placeText({ location, venue }: Message): string {
  const place = venue?.location ?? location
  return place === undefined ? '' : `geo:${place.latitude},${place.longitude}`
}

/** How a place is called, as others have written it down. */
const venueText = ({ venue }: Message): string =>
  [venue?.title, venue?.address].filter(Boolean).join('\n')

/** Whom a person shares, as others have written it down. */
const contactText = ({ contact }: Message): string =>
  contact === undefined
    ? ''
    : [contact.first_name, contact.last_name, contact.phone_number].filter(Boolean).join(' ')

/** Whether a text names the bot, also behind a command, and not one whose name only begins like it. */
const mentions = (text: string, username: string): boolean =>
  text
    .toLowerCase()
    .split(/(?=@)|[^\w@]+/)
    .includes(`@${username.toLowerCase()}`)

function filesOf(bot: Bot, settings: Settings, message: Message): ArrivedFile[] {
  const photo = message.photo.at(-1)
  const found: [z.infer<typeof File> | undefined, string, isVoice?: boolean][] = [
    [photo, 'photo.jpg'],
    [message.document, 'file'],
    [message.voice, 'voice.ogg', true],
    [message.audio, 'audio.mp3'],
  ]
  return found.flatMap(([file, name, isVoice = false]) =>
    file === undefined
      ? []
      : [
          {
            name: file.file_name ?? name,
            isVoice,
            read: (signal: AbortSignal) => readFile(bot, settings, file, signal),
          },
        ],
  )
}

async function readFile(
  bot: Bot,
  settings: Settings,
  { file_id, file_size }: z.infer<typeof File>,
  signal: AbortSignal,
): Promise<Buffer | null> {
  if (file_size !== undefined && file_size > MAX_FILE_BYTES) return null
  const found = await call(bot, settings, 'getFile', { file_id }, signal)
  const place = found.ok ? z.object({ file_path: z.string() }).safeParse(found.result) : null
  if (place?.success !== true) return null
  const response = await bot.fetch(
    `${bot.apiUrl}/file/bot${settings.bot_token}/${place.data.file_path}`,
    { signal, timeoutMs: 60_000, maxBytes: MAX_FILE_BYTES, trusted: true },
  )
  if (!response.ok || response.status !== 200 || response.truncated) return null
  return Buffer.from(response.body)
}

async function sendPart(
  bot: Bot,
  settings: Settings,
  to: Destination,
  part: OutgoingPart & { id: string },
  signal: AbortSignal,
): Promise<PartOutcome> {
  const place = placeOf(to)
  switch (part.type) {
    case 'end':
      return { ok: true }
    case 'text': {
      const formatted = { ...place, text: telegramHtml(part.text), parse_mode: 'HTML' }
      const sent = await call(bot, settings, 'sendMessage', formatted, signal)
      if (sent.ok || sent.status !== 400) return outcomeOf(sent)
      // Its formatting was refused.
      const plain = { ...place, text: part.text }
      return outcomeOf(await call(bot, settings, 'sendMessage', plain, signal))
    }
    case 'card': {
      const buttons = [
        ...(part.approve === null ? [] : [{ text: part.approve, callback_data: `a:${part.id}` }]),
        ...(part.reject === null ? [] : [{ text: part.reject, callback_data: `r:${part.id}` }]),
      ]
      const card = {
        ...place,
        text: part.text.slice(0, MAX_CHARACTERS),
        reply_markup: { inline_keyboard: [buttons] },
      }
      return outcomeOf(await call(bot, settings, 'sendMessage', card, signal))
    }
    case 'settled': {
      if (part.externalId === null) return { ok: true }
      const edit = { ...place, message_id: Number(part.externalId), text: part.text }
      const sent = await call(bot, settings, 'editMessageText', edit, signal)
      // The person has deleted it, or it says so already.
      return !sent.ok && sent.status === 400 ? { ok: true } : outcomeOf(sent)
    }
    case 'file': {
      const form = new FormData()
      for (const [name, value] of Object.entries(place)) form.set(name, String(value))
      form.set('document', new Blob([new Uint8Array(part.bytes)], { type: part.mime }), part.name)
      return outcomeOf(await call(bot, settings, 'sendDocument', form, signal, 60_000))
    }
  }
}

function outcomeOf(called: Called): PartOutcome {
  // Whatever a self-hosted server says beside it, 2xx means that it took the message.
  const isTaken = !called.ok && called.status !== null && called.status < 300
  if (isTaken) return { ok: true }
  if (!called.ok) return called.fault
  const message = z.object({ message_id: z.number() }).safeParse(called.result)
  return message.success ? { ok: true, externalId: String(message.data.message_id) } : { ok: true }
}

async function showProgress(
  bot: Bot,
  settings: Settings,
  to: Destination,
  { text, externalId }: { text: string | null; externalId: string | null },
  signal: AbortSignal,
): Promise<string | null> {
  const place = placeOf(to)
  if (text === null) {
    if (externalId === null) return null
    const shown = { ...place, message_id: Number(externalId) }
    const deleted = await call(bot, settings, 'deleteMessage', shown, signal)
    if (!deleted.ok && deleted.fault.retry) throw new Error(deleted.fault.failure.message)
    return null
  }
  if (externalId !== null) {
    const edit = { ...place, message_id: Number(externalId), text }
    await call(bot, settings, 'editMessageText', edit, signal)
    return externalId
  }
  const sent = outcomeOf(await call(bot, settings, 'sendMessage', { ...place, text }, signal))
  return sent.ok ? (sent.externalId ?? null) : null
}
