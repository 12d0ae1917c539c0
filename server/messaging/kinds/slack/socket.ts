// What people write to an app of Slack, by Socket Mode: each envelope is acknowledged after its message is stored.
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { storedFailure } from '../../../protocol/failures/stored.ts'
import {
  type Arrival,
  type ArrivedFile,
  type Inbox,
  ReceivingEnded,
  SKIP_UNREAD,
} from '../../messenger.ts'
import {
  isSocketModeOff,
  isTokenRefused,
  type Slack,
  type SlackAnswer,
  type SlackSettings,
} from './api.ts'
import { writtenText } from './text.ts'

const MAX_FILE_BYTES = 20 * 1024 * 1024
const FILE_TIMEOUT_MS = 60_000
const NAME_TIMEOUT_MS = 1_000
const MAX_NAMES = 500
/** Reads files of this host, and of that which the operator configured, with the bot's token. */
const SLACK_HOST = /(^|\.)slack\.com$/

const File = z.object({
  name: z.string().nullish(),
  title: z.string().nullish(),
  size: z.number().optional(),
  mimetype: z.string().optional(),
  /** `slack_audio`: a clip that the person spoke. */
  subtype: z.string().optional().catch(undefined),
  url_private_download: z.string().optional(),
  url_private: z.string().optional(),
})
const Shared = z.object({
  text: z.string().optional(),
  fallback: z.string().optional(),
  author_name: z.string().optional(),
  is_share: z.boolean().optional(),
  is_msg_unfurl: z.boolean().optional(),
})
const Message = z.object({
  type: z.enum(['message', 'app_mention']),
  subtype: z.string().optional(),
  channel: z.string(),
  channel_type: z.string().optional(),
  user: z.string().optional(),
  bot_id: z.string().nullish(),
  text: z.string().optional(),
  ts: z.string(),
  thread_ts: z.string().optional(),
  parent_user_id: z.string().optional(),
  edited: z.unknown().optional(),
  files: z.array(File).optional().catch(undefined),
  attachments: z.array(Shared).optional().catch(undefined),
})
type Message = z.infer<typeof Message>
const Events = z.object({
  team_id: z.string().optional(),
  event: z.unknown(),
  authorizations: z
    .array(z.object({ user_id: z.string().optional() }))
    .optional()
    .catch(undefined),
})
const Pressed = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: z.string(), name: z.string().optional(), username: z.string().optional() }),
  channel: z.object({ id: z.string(), name: z.string().optional() }).optional(),
  container: z.object({ channel_id: z.string().optional() }).optional(),
  message: z.object({ thread_ts: z.string().optional() }).optional(),
  trigger_id: z.string().optional(),
  actions: z
    .array(
      z.object({
        action_id: z.string().optional(),
        value: z.string().optional(),
        action_ts: z.string().optional(),
      }),
    )
    .min(1),
})
const Slash = z.object({
  command: z.string(),
  text: z.string().default(''),
  user_id: z.string(),
  user_name: z.string().optional(),
  channel_id: z.string(),
  channel_name: z.string().optional(),
  trigger_id: z.string().optional(),
})
const Envelope = z.object({
  type: z.string(),
  envelope_id: z.string().optional(),
  payload: z.unknown().optional(),
  reason: z.string().optional(),
})
type Envelope = z.infer<typeof Envelope>

/** The app in its workspace. */
interface Me {
  userId: string | null
  teamId: string | null
}

interface Receiving {
  slack: Slack
  settings: SlackSettings
  me: Me
  names: LRUCache<string, string>
  signal: AbortSignal
}

/** The answer of a call. @throws ReceivingEnded */
function answerOf(called: SlackAnswer): unknown {
  if (called.ok) return called.answer
  if (isTokenRefused(called.error))
    throw new ReceivingEnded('error', storedFailure('channel_bot_refused'))
  if (isSocketModeOff(called.error))
    throw new ReceivingEnded('error', storedFailure('channel_socket_mode_off'))
  throw new ReceivingEnded('connecting', called.fault.failure)
}

/** Receives over one connection after the other until the signal aborts. @throws ReceivingEnded */
export async function receiveFromSlack(
  slack: Slack,
  settings: SlackSettings,
  inbox: Inbox,
  signal: AbortSignal,
): Promise<void> {
  const me = z
    .object({ user_id: z.string().optional(), team_id: z.string().optional() })
    .safeParse(answerOf(await slack.get(settings, 'auth.test', {}, signal))).data
  const receiving: Receiving = {
    slack,
    settings,
    me: { userId: me?.user_id ?? null, teamId: me?.team_id ?? null },
    names: new LRUCache({ max: MAX_NAMES }),
    signal,
  }
  // Slack offers again what was written while nobody received; its times are seconds.
  if (inbox.place === SKIP_UNREAD) await inbox.take([], String(slack.now().getTime() / 1_000))
  while (!signal.aborted) {
    const opened = answerOf(
      await slack.post(settings, 'apps.connections.open', {}, signal, 'app_token'),
    )
    const place = z.object({ url: z.url({ protocol: /^wss?$/ }) }).safeParse(opened)
    if (!place.success) throw new ReceivingEnded('connecting', storedFailure('delivery_failed'))
    await converse(receiving, place.data.url, inbox)
  }
}

/** Takes what arrives over one connection. Resolves when Slack asks for another one. @throws ReceivingEnded when it is lost. */
async function converse(receiving: Receiving, url: string, inbox: Inbox): Promise<void> {
  const { signal, slack } = receiving
  const working = new Set<Promise<void>>()
  const chains = new Map<string, Promise<void>>()
  let end = (_: 'refresh' | 'disabled' | Error): void => undefined
  const ended = new Promise<'refresh' | 'disabled' | Error>((resolve) => {
    end = resolve
  })
  let send = (_: string): void => undefined

  /**
   * Messages of a chat are stored in order; a large file or a recording in one holds up neither the others nor what the person
   * decides or commands meanwhile.
   */
  function handle(envelope: Envelope & { envelope_id: string }): void {
    const { envelope_id: id, type } = envelope
    const key = `${type === 'events_api' ? 'says' : 'asks'} ${chatOf(envelope)}`
    const done = (chains.get(key) ?? Promise.resolve())
      .then(async () => {
        const arrival = await arrivalOf(envelope, receiving)
        if (arrival !== null && !isSkipped(arrival, inbox.place))
          await inbox.take([arrival.arrival])
        // Without this, Slack sends it again.
        if (!signal.aborted) send(JSON.stringify({ envelope_id: id }))
      })
      .catch((error: unknown) => end(error instanceof Error ? error : new Error(String(error))))
      .finally(() => {
        working.delete(done)
        if (chains.get(key) === done) chains.delete(key)
      })
    chains.set(key, done)
    working.add(done)
  }

  const socket = await slack.fetch
    .openSocket(url, {
      signal,
      onText(text) {
        const envelope = Envelope.safeParse(parsed(text))
        if (!envelope.success) return
        const { type, envelope_id, reason } = envelope.data
        if (type === 'hello')
          void inbox
            .connected()
            .catch((error: unknown) => end(new Error('unstored', { cause: error })))
        else if (type === 'disconnect') end(reason === 'link_disabled' ? 'disabled' : 'refresh')
        else if (envelope_id !== undefined) handle({ ...envelope.data, envelope_id })
      },
    })
    .catch(() => {
      throw new ReceivingEnded('connecting', storedFailure('delivery_receiver_unreachable'))
    })
  send = (text) => socket.send(text)
  const why = await Promise.race([ended, socket.closed])
  try {
    // What is being stored is still acknowledged.
    await Promise.all(working)
  } finally {
    socket.close()
  }
  if (why instanceof Error) throw why
  if (why === 'disabled')
    throw new ReceivingEnded('error', storedFailure('channel_socket_mode_off'))
  if (why === undefined && !signal.aborted)
    throw new ReceivingEnded('connecting', storedFailure('delivery_receiver_closed_connection'))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const InChat = z.object({
  event: z.object({ channel: z.string() }).optional().catch(undefined),
  channel: z.object({ id: z.string() }).optional().catch(undefined),
  channel_id: z.string().optional().catch(undefined),
})

function chatOf({ payload }: Envelope): string {
  const { data } = InChat.safeParse(payload)
  return data?.event?.channel ?? data?.channel?.id ?? data?.channel_id ?? ''
}

/** An arrival with the time at which it was written, in Slack's seconds; null for one without. */
interface Timed {
  arrival: Arrival
  at: number | null
}

/** Whether it was written while the channel did not receive. */
const isSkipped = ({ at }: Timed, place: string | null): boolean =>
  at !== null && place !== null && place !== SKIP_UNREAD && at < Number(place)

/** What an envelope says; null for what nobody is meant to act on. */
async function arrivalOf(envelope: Envelope, receiving: Receiving): Promise<Timed | null> {
  const { payload } = envelope
  if (envelope.type === 'events_api') return await ofEvent(payload, receiving)
  if (envelope.type === 'interactive') return ofButton(payload, envelope)
  if (envelope.type === 'slash_commands') return await ofCommand(payload, envelope, receiving)
  return null
}

async function ofEvent(payload: unknown, receiving: Receiving): Promise<Timed | null> {
  const events = Events.safeParse(payload).data
  const message = Message.safeParse(events?.event).data
  if (events === undefined || message === undefined || message.user === undefined) return null
  const { me } = receiving
  if (me.teamId !== null && events.team_id !== undefined && events.team_id !== me.teamId)
    return null
  const bot = me.userId ?? events.authorizations?.[0]?.user_id ?? null
  const isPersons =
    (message.subtype === undefined ||
      ['file_share', 'thread_broadcast'].includes(message.subtype)) &&
    message.bot_id == null &&
    message.edited === undefined &&
    message.user !== bot
  if (!isPersons) return null
  const { channel, ts, text = '' } = message
  const isPrivate = message.channel_type === 'im' || channel.startsWith('D')
  const [name, chatName] = await Promise.all([
    nameOf(receiving, 'users.info', 'user', message.user),
    isPrivate ? '' : nameOf(receiving, 'conversations.info', 'channel', channel),
  ])
  const isMention = bot !== null && text.includes(`<@${bot}`)
  const shared = (message.attachments ?? []).filter(
    (one) => one.is_share === true || one.is_msg_unfurl === true,
  )
  return {
    at: Number(ts),
    arrival: {
      // `message` and `app_mention` tell of the same message.
      id: `ts:${channel}:${ts}`,
      chat: { id: channel, name: isPrivate ? name : chatName, isPrivate },
      threadId: message.thread_ts ?? '',
      sender: { id: message.user, name },
      text: writtenText(text, bot),
      isAddressed:
        message.type === 'app_mention' ||
        isMention ||
        (bot !== null && message.parent_user_id === bot),
      isOutside: false,
      quoted: shared
        .map(({ author_name, text: said, fallback }) =>
          [author_name, writtenText(said ?? fallback ?? '', null)].filter(Boolean).join(': '),
        )
        .join('\n\n'),
      files: filesOf(message, receiving),
      decision: null,
      mayAnswerStranger: true,
    },
  }
}

function ofButton(payload: unknown, { envelope_id }: Envelope): Timed | null {
  const pressed = Pressed.safeParse(payload).data
  const [action] = pressed?.actions ?? []
  const chatId = pressed?.channel?.id ?? pressed?.container?.channel_id
  const button = /^([ar]):([\w-]{1,38})$/.exec(action?.value ?? action?.action_id ?? '')
  if (pressed === undefined || chatId === undefined || button?.[2] === undefined) return null
  const { user } = pressed
  return {
    at: null,
    arrival: {
      ...bare({ id: user.id, name: user.name ?? user.username ?? user.id }, chatId),
      id: `action:${action?.action_ts ?? pressed.trigger_id ?? envelope_id}:${user.id}`,
      threadId: pressed.message?.thread_ts ?? '',
      decision: { part: button[2], choice: button[1] === 'a' ? 'approve' : 'reject' },
    },
  }
}

/** Slack takes texts that begin with `/` for commands of apps, and sends only those that the app has registered. */
async function ofCommand(
  payload: unknown,
  { envelope_id }: Envelope,
  receiving: Receiving,
): Promise<Timed | null> {
  const slash = Slash.safeParse(payload).data
  if (slash === undefined) return null
  const { command, text } = slash
  const name = await nameOf(receiving, 'users.info', 'user', slash.user_id)
  return {
    at: null,
    arrival: {
      ...bare({ id: slash.user_id, name }, slash.channel_id),
      id: `command:${slash.trigger_id ?? envelope_id}`,
      // What follows a command of the app's own name is what would follow a slash elsewhere.
      text: /^\/nano/.test(command) ? `/${text.trim() || 'help'}` : `${command} ${text}`.trim(),
      isAddressed: true,
      mayAnswerStranger: true,
    },
  }
}

const bare = (sender: Arrival['sender'], chatId: string): Omit<Arrival, 'id'> => {
  const isPrivate = chatId.startsWith('D')
  return {
    chat: { id: chatId, name: isPrivate ? sender.name : '', isPrivate },
    threadId: '',
    sender,
    text: '',
    isAddressed: false,
    isOutside: false,
    quoted: '',
    files: [],
    decision: null,
    mayAnswerStranger: false,
  }
}

const Named = z.object({
  user: z
    .object({
      name: z.string().optional(),
      real_name: z.string().optional(),
      profile: z.object({ display_name: z.string().optional() }).optional(),
    })
    .optional(),
  channel: z.object({ name: z.string().optional() }).optional(),
})

/** How a person or chat is called, asked once; its id if Slack does not say it soon. */
async function nameOf(
  { slack, settings, names, signal }: Receiving,
  method: 'users.info' | 'conversations.info',
  parameter: 'user' | 'channel',
  id: string,
): Promise<string> {
  const known = names.get(id)
  if (known !== undefined) return known
  const asked = { [parameter]: id }
  const called = await slack.get(settings, method, asked, signal, NAME_TIMEOUT_MS)
  const named = called.ok ? Named.safeParse(called.answer).data : undefined
  const { user, channel } = named ?? {}
  const name = [user?.profile?.display_name, user?.real_name, user?.name, channel?.name].find(
    (one) => one !== undefined && one !== '',
  )
  names.set(id, name ?? id)
  return name ?? id
}

const filesOf = ({ files = [] }: Message, receiving: Receiving): ArrivedFile[] =>
  files.map((file) => ({
    name: file.name ?? file.title ?? 'file',
    isVoice: file.subtype === 'slack_audio',
    read: (signal) => readFile(receiving, file, signal),
  }))

async function readFile(
  { slack, settings }: Receiving,
  { size, mimetype = '', ...file }: z.infer<typeof File>,
  signal: AbortSignal,
): Promise<Buffer | null> {
  const address = file.url_private_download ?? file.url_private
  if (address === undefined || !URL.canParse(address)) return null
  if (size !== undefined && size > MAX_FILE_BYTES) return null
  const url = new URL(address)
  const isConfigured = url.origin === new URL(slack.apiUrl).origin
  // A file may also live elsewhere, where the token has no business.
  const isSlacks = isConfigured || (url.protocol === 'https:' && SLACK_HOST.test(url.hostname))
  if (!isSlacks) return null
  const response = await slack.fetch(url.href, {
    headers: { authorization: `Bearer ${settings.bot_token}` },
    signal,
    timeoutMs: FILE_TIMEOUT_MS,
    maxBytes: MAX_FILE_BYTES,
    maxRedirects: 0,
    trusted: isConfigured,
  })
  if (!response.ok || response.status !== 200 || response.truncated) return null
  // Without the right to read files, Slack shows its page for signing in.
  const isPage = response.contentType.startsWith('text/html') && !mimetype.startsWith('text/html')
  return isPage ? null : Buffer.from(response.body)
}
