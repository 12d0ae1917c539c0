// The channels of a user: create, change, list without secrets, remove, send.

import { createHash, randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { Language } from '../../locales/languages.ts'
import type { SecretBox } from '../auth/secret-box.ts'
import type {
  ChannelRepository,
  ChannelRow,
  DeliveryRow,
} from '../db/repositories/deliveries/channels.ts'
import type { Store } from '../db/store.ts'
import { appError, errorText } from '../errors.ts'
import { deadline } from '../lib/abort.ts'
import { newId } from '../lib/ids.ts'
import type { Limits, RateLimit } from '../lib/limits.ts'
import { hashLinkToken, newLinkToken } from '../lib/link-token.ts'
import { localeTexts } from '../lib/locale-texts.ts'
import {
  type DescribedFailure,
  storedFailure,
  storedFailureText,
} from '../protocol/failures/stored.ts'
import type { ConversationId, UserId } from '../protocol/ids.ts'
import type {
  AddressToken,
  Channel,
  ChannelTest,
  CreatedChannel,
  DeliveryStatus,
  PatchChannelBody,
  ReceiveBody,
  ReceiveSettings,
} from '../protocol/programs/channel.ts'
import type { ChannelKind } from './channel-kind.ts'
import { type Destination, SKIP_UNREAD } from './messenger.ts'
import { createOutbox, type Outbox } from './outbox.ts'

/** Pauses before the second, third … attempt. After the last one, the delivery has failed. */
const RETRY_PAUSES_SECONDS = [5, 30, 120, 600, 3_600]
const MAX_CHANNELS = 20
const MAX_PENDING_DELIVERIES = 100
/** How long a sender waits for the outcome of the first attempt. */
const FIRST_ATTEMPT_TIMEOUT_MS = 3_000
/** Each test of an account connects to a service of its choice. */
const TESTS_PER_HOUR = 60
const TEST_TIMEOUT_MS = 20_000
/** Binds sealed settings to channels: `SecretBox` opens a value only for the purpose it was sealed for. */
export const CHANNEL_SEAL_PURPOSE = 'channel'

/** The state of a message after its first attempt. */
export interface Delivery {
  id: string
  status: DeliveryStatus
  /** Why it is not delivered, or not yet; null if it is. */
  error: string | null
}

/** Tells the sender of a message that it was never delivered. */
export interface GivenUp {
  userId: UserId
  conversationId: ConversationId | null
  channel: string
  text: string
  failure: DescribedFailure
}

/** The channels of users, and sending through them. */
export interface Channels {
  list(userId: UserId): Promise<Channel[]>
  /** Throws `validation_failed`, `name_taken` or `too_many_requests`. */
  create(
    userId: UserId,
    channel: { type: string; name: string; settings: unknown; receive?: ReceiveBody | undefined },
  ): Promise<z.infer<typeof CreatedChannel>>
  /** Absent fields stay unchanged; `receive: null` ends receiving. Throws as `create`, and `not_found`. */
  change(userId: UserId, id: string, patch: PatchChannelBody): Promise<Channel>
  /** Throws `not_found`. */
  find(userId: UserId, id: string): Promise<ChannelRow>
  /** Replaces the token with which a program hands over messages. Throws `not_found` or `validation_failed`. */
  replaceToken(userId: UserId, id: string): Promise<string>
  /** Replaces the token of the channel's address. Throws `not_found` or `validation_failed`. */
  replaceAddress(userId: UserId, id: string): Promise<z.infer<typeof AddressToken>>
  /** Where people write to the channel, if it has an address of its own. */
  addressOf(channel: ChannelRow): string | null
  /** All settings, with secrets. Throws if they cannot be opened. */
  settingsOf(channel: ChannelRow): unknown
  /** Calls `listener` after a channel was made, changed or removed. */
  onChange(listener: (userId: UserId, id: string) => void): void
  /**
   * Tries settings: those given, which are not stored, or those of a channel. Throws `validation_failed`, `not_found`, or
   * `too_many_requests` after too many tests.
   */
  test(
    userId: UserId,
    what: { type: string; settings: unknown } | { id: string },
    /** Of what is sent, where something has to be. */
    language: Language,
  ): Promise<ChannelTest>
  /** Throws `not_found`. */
  remove(userId: UserId, id: string): Promise<void>
  /** Counts a message to so many people. Throws `too_many_requests` if too many were sent within the hour or day. */
  admit(userId: UserId, recipients: number): Promise<void>
  /**
   * Stores the message, then waits at most a few seconds for the first attempt. Resolves to null if there is no channel
   * with this name. Throws `too_many_requests` if too many messages are pending, or too many were sent within the hour.
   */
  send(
    userId: UserId,
    name: string,
    message: { text: string; conversationId: ConversationId | null; signal: AbortSignal },
  ): Promise<Delivery | null>
  start(): void
  stop(): Promise<void>
}

/** Null for a channel whose owner has no chat of their own. */
async function ownChat(
  { id, userId }: Pick<ChannelRow, 'id' | 'userId'>,
  { chats }: Pick<ChannelsOptions, 'chats'>,
): Promise<Destination | null> {
  const chat = await chats?.privateChat(id, userId)
  return chat === undefined ? null : { chatId: chat.externalId, threadId: chat.threadId }
}

/** The dependencies of channels. */
export interface ChannelsOptions {
  repository: ChannelRepository
  kinds: ReadonlyMap<string, ChannelKind>
  secrets: SecretBox
  isUniqueViolation(error: unknown): boolean
  /** Called when a message that was going to be retried has finally failed. */
  onGivenUp?(failure: GivenUp): Promise<unknown>
  now(): Date
  log: { warn(details: object, message: string): void }
  /** Maximum number of recipients per hour for all channels of a user. */
  messagesPerHour: number
  limits: Limits
  /** Counts messages against the user's quota before they are sent. Throws if it is used up. */
  countMessages?(userId: UserId, count: number): Promise<void>
  /** Returns the addresses that may not receive email yet. By default, all may. */
  unconfirmed?(userId: UserId, addresses: readonly string[]): Promise<string[]>
  /** How a channel receives, checked. Throws why this user may not have it so. */
  checkReceive?(userId: UserId, receive: ReceiveBody): Promise<ReceiveSettings>
  /** Where the chat with the owner of a channel is found, for messages without another destination. */
  chats?: Pick<Store['receiving'], 'privateChat'>
  /** The pause between attempts, in milliseconds; for tests. */
  pauseMs?: number
}

const HOUR_MS = 60 * 60_000

/** What the channels of a process share. */
interface ChannelsState extends ChannelsOptions {
  // Not a count of stored deliveries, because recreating the channel removes these and would reset it.
  readonly allowance: RateLimit
  readonly tests: RateLimit
  readonly outbox: Outbox
  readonly listeners: Set<(userId: UserId, id: string) => void>
}

/** Call `start` once, and `stop` before the store closes. */
export function createChannels(options: ChannelsOptions): Channels {
  const { repository, kinds } = options
  const allowance = options.limits.rateLimit('recipients', {
    limit: options.messagesPerHour,
    windowMs: HOUR_MS,
  })
  const outbox = createOutbox<{ channel: ChannelRow; delivery: DeliveryRow }>({
    queue: repository,
    pausesSeconds: RETRY_PAUSES_SECONDS,
    pauseMs: options.pauseMs,
    now: options.now,
    log: options.log,
    async send({ channel, delivery }, signal) {
      const kind = kinds.get(channel.type)
      if (kind === undefined)
        return { ok: false, failure: storedFailure('delivery_channel_kind_gone'), retry: false }
      const { id, content: text, createdAt } = delivery
      const settings = settingsOf(options, channel)
      const [missing] =
        (await options.unconfirmed?.(channel.userId, kind.mailAddresses(settings))) ?? []
      if (missing !== undefined) {
        const failure = storedFailure('delivery_mail_unconfirmed', { address: missing })
        return { ok: false, failure, retry: false }
      }
      const to = kind.messenger === null ? null : await ownChat(channel, options)
      return await kind.send(settings, { id, channel: channel.name, text, createdAt, to }, signal)
    },
    onGivenUp: async ({ channel, delivery }, failure) => {
      const { userId, conversationId, content: text } = delivery
      await options.onGivenUp?.({ userId, conversationId, channel: channel.name, text, failure })
    },
  })
  const state: ChannelsState = {
    ...options,
    allowance,
    tests: options.limits.rateLimit('channel tests', { limit: TESTS_PER_HOUR, windowMs: HOUR_MS }),
    outbox,
    listeners: new Set(),
  }
  return {
    list: (userId) => list(state, userId),

    create: (userId, channel) => create(state, userId, channel),

    async remove(userId, id) {
      if (!(await state.repository.remove(userId, id))) throw appError('channel_not_found')
      told(state, userId, id)
    },

    test: (userId, what, language) => test(state, userId, what, language),
    change: (userId, id, patch) => change(state, userId, id, patch),
    find: (userId, id) => find(state, userId, id),
    replaceToken: (userId, id) => replaceToken(state, userId, id),
    replaceAddress: (userId, id) => replaceAddress(state, userId, id),
    addressOf: (channel) => addressOf(state, channel),
    settingsOf: (channel) => settingsOf(state, channel),
    onChange: (listener) => {
      state.listeners.add(listener)
    },

    admit: (userId, recipients) => admit(state, userId, recipients),
    send: (userId, name, message) => send(state, userId, name, message),

    start: () => state.outbox.start(),
    stop: () => state.outbox.stop(),
  }
}

const settingsOf = (state: Pick<ChannelsState, 'secrets'>, channel: ChannelRow): unknown =>
  JSON.parse(state.secrets.open(channel.sealedSettings, CHANNEL_SEAL_PURPOSE))

function addressOf(state: ChannelsState, channel: ChannelRow): string | null {
  const messenger = state.kinds.get(channel.type)?.messenger
  if (channel.addressToken === null || messenger?.addressOf === undefined) return null
  try {
    return messenger.addressOf(settingsOf(state, channel), channel.addressToken)
  } catch {
    // Sealed with a key that no longer exists.
    return null
  }
}

function recipientsOf(state: ChannelsState, channel: ChannelRow): number {
  try {
    return state.kinds.get(channel.type)?.recipients(settingsOf(state, channel)) ?? 1
  } catch {
    // Sealed with a key that no longer exists. The delivery fails with this reason.
    return 1
  }
}

const present = (
  state: ChannelsState,
  channel: ChannelRow,
  last: Channel['last_delivery'],
): Channel => ({
  id: channel.id,
  type: channel.type,
  name: channel.name,
  settings: visibleSettings(state, channel),
  direction: channel.receive === null ? 'out' : 'both',
  receive: channel.receive,
  state: channel.receive === null ? 'off' : (channel.state ?? initialState(state, channel)),
  address: channel.receive === null ? null : addressOf(state, channel),
  error: channel.fault === null ? null : storedFailureText(channel.fault),
  reason: channel.fault?.reason ?? null,
  last_delivery: last,
  created_at: channel.createdAt.toISOString(),
})

function visibleSettings(state: ChannelsState, channel: ChannelRow): Record<string, string> {
  try {
    return state.kinds.get(channel.type)?.present(settingsOf(state, channel)) ?? {}
  } catch {
    // Sealed with a key that no longer exists. The channel can still be listed and removed.
    return {}
  }
}

async function list(state: ChannelsState, userId: UserId): Promise<Channel[]> {
  const [channels, last] = await Promise.all([
    state.repository.list(userId),
    state.repository.lastDeliveries(userId),
  ])
  return channels.map((channel) => {
    const delivery = last.get(channel.id)
    return present(
      state,
      channel,
      delivery === undefined
        ? null
        : {
            status: delivery.status,
            attempts: delivery.attempts,
            error: delivery.lastError,
            reason: delivery.lastFailure?.reason ?? null,
            params: delivery.lastFailure?.params ?? null,
            created_at: delivery.createdAt.toISOString(),
          },
    )
  })
}

/** A channel to which messages are handed over is always ready. */
const initialState = (state: ChannelsState, { type }: ChannelRow) =>
  state.kinds.get(type)?.messenger?.receive === undefined ? 'receiving' : 'connecting'

const told = (state: ChannelsState, userId: UserId, id: string): void => {
  for (const listener of state.listeners) listener(userId, id)
}

function kindOf(state: ChannelsState, type: string): ChannelKind {
  const kind = state.kinds.get(type)
  if (kind === undefined)
    throw appError('channel_type_unknown', { type, types: [...state.kinds.keys()] })
  return kind
}

async function find(state: ChannelsState, userId: UserId, id: string): Promise<ChannelRow> {
  const channel = (await state.repository.list(userId)).find((one) => one.id === id)
  if (channel === undefined) throw appError('channel_not_found')
  return channel
}

/** The columns of receiving. */
async function receivingOf(
  state: ChannelsState,
  userId: UserId,
  kind: ChannelKind,
  { settings, receive }: { settings: unknown; receive: ReceiveBody },
): Promise<Pick<ChannelRow, 'receive' | 'botHash'>> {
  if (kind.messenger === null || state.checkReceive === undefined)
    throw appError('channel_only_sends', { type: kind.type })
  const refusal = kind.messenger.refuse?.(settings)
  if (refusal !== undefined) throw refusal
  const bot = kind.messenger.botOf(settings)
  return {
    receive: await state.checkReceive(userId, receive),
    botHash: bot === null ? null : createHash('sha256').update(`${kind.type} ${bot}`).digest('hex'),
  }
}

/** The token of an address: short and without capitals, because addresses are copied by hand and lose them. */
const newAddressToken = (kind: ChannelKind): string | null =>
  kind.messenger?.addressOf === undefined ? null : randomBytes(10).toString('hex')

/** What was chosen before, as it is checked again. */
const toBody = (receive: ReceiveSettings | ReceiveBody): ReceiveBody => ({
  project_id: receive.project_id ?? undefined,
  model: receive.model ?? undefined,
  approval: receive.approval,
  groups: receive.groups,
  shared: receive.shared,
})

/** Says which of the two rules of channels a row breaks: names are unique for a user, bots for the server. */
async function violated(
  state: ChannelsState,
  error: unknown,
  { userId, id, name }: Pick<ChannelRow, 'userId' | 'id' | 'name'>,
): Promise<unknown> {
  if (!state.isUniqueViolation(error)) return error
  const other = await state.repository.findByName(userId, name)
  return other !== undefined && other.id !== id
    ? appError('channel_name_taken', { name })
    : appError('channel_already_receiving')
}

async function create(
  state: ChannelsState,
  userId: UserId,
  {
    type,
    name,
    settings,
    receive,
  }: { type: string; name: string; settings: unknown; receive?: ReceiveBody | undefined },
): Promise<z.infer<typeof CreatedChannel>> {
  const kind = kindOf(state, type)
  kind.check(settings)
  const receiving =
    receive === undefined
      ? { receive: null, botHash: null }
      : await receivingOf(state, userId, kind, { settings, receive })
  const token = kind.messenger?.takesToken === true ? newLinkToken() : null
  const channel: ChannelRow = {
    id: newId(),
    userId,
    type,
    name,
    sealedSettings: state.secrets.seal(JSON.stringify(settings), CHANNEL_SEAL_PURPOSE),
    createdAt: state.now(),
    ...receiving,
    state: null,
    fault: null,
    place: null,
    tokenHash: token === null ? null : hashLinkToken(token),
    addressToken: receive === undefined ? null : newAddressToken(kind),
  }
  let isStored: boolean
  try {
    isStored = await state.repository.insert(channel, MAX_CHANNELS)
  } catch (error) {
    throw await violated(state, error, channel)
  }
  if (!isStored) throw appError('channels_exhausted', { limit: MAX_CHANNELS })
  told(state, userId, channel.id)
  const shown = token ?? channel.addressToken
  return { ...present(state, channel, null), ...(shown === null ? {} : { token: shown }) }
}

/** The stored settings; none of them stays if they were sealed with a key that no longer exists. */
function storedSettings(state: ChannelsState, channel: ChannelRow): unknown {
  try {
    return settingsOf(state, channel)
  } catch {
    return null
  }
}

async function change(
  state: ChannelsState,
  userId: UserId,
  id: string,
  { name, settings: changes, receive }: PatchChannelBody,
): Promise<Channel> {
  const before = await find(state, userId, id)
  const kind = kindOf(state, before.type)
  const given =
    changes === undefined ? undefined : kind.join(storedSettings(state, before), changes)
  if (given !== undefined) kind.check(given)
  const settings: unknown = given ?? settingsOf(state, before)
  const wanted = receive === undefined ? before.receive : receive
  const receiving =
    wanted === null
      ? { receive: null, botHash: null }
      : await receivingOf(state, userId, kind, { settings, receive: toBody(wanted) })
  const isSameWay = given === undefined && isDeepStrictEqual(receiving.receive, before.receive)
  const set = {
    ...(name === undefined ? {} : { name }),
    ...(given === undefined
      ? {}
      : { sealedSettings: state.secrets.seal(JSON.stringify(given), CHANNEL_SEAL_PURPOSE) }),
    ...receiving,
    ...(receiving.receive === null || before.addressToken !== null
      ? {}
      : { addressToken: newAddressToken(kind) }),
    // What arrives while it does not receive is dropped.
    ...(receive === null
      ? { place: SKIP_UNREAD }
      : before.receive !== null && receiving.botHash !== before.botHash
        ? { place: null }
        : {}),
    // What works goes on; a service that refused the bot is asked again after any change.
    ...(isSameWay && before.fault === null ? {} : { state: null, fault: null }),
  }
  let changed: ChannelRow | undefined
  try {
    changed = await state.repository.change(userId, id, set)
  } catch (error) {
    throw await violated(state, error, { userId, id, name: name ?? before.name })
  }
  if (changed === undefined) throw appError('channel_not_found')
  told(state, userId, id)
  return present(state, changed, null)
}

async function test(
  state: ChannelsState,
  userId: UserId,
  what: { type: string; settings: unknown } | { id: string },
  language: Language,
): Promise<ChannelTest> {
  const channel = 'id' in what ? await find(state, userId, what.id) : null
  const type = channel?.type ?? ('type' in what ? what.type : '')
  const kind = kindOf(state, type)
  const settings: unknown =
    'settings' in what ? what.settings : channel === null ? null : settingsOf(state, channel)
  kind.check(settings)
  const retryAfter = await state.tests.acquire(userId)
  if (retryAfter !== null)
    throw appError('channel_tests_exhausted', { limit: TESTS_PER_HOUR }, { retryAfter })
  const { chat } = localeTexts(language, 'messages')
  const trial = {
    id: newId<string>(),
    channel: channel?.name ?? type,
    text: chat.test,
    createdAt: state.now(),
  }
  const outcome = await kind
    .test(settings, trial, AbortSignal.timeout(TEST_TIMEOUT_MS))
    .catch((error: unknown) => {
      state.log.warn({ cause: errorText(error) }, 'a test of a channel failed unexpectedly')
      return { ok: false as const, failure: storedFailure('delivery_failed') }
    })
  if (outcome.ok) return { ok: true, bot: outcome.bot, error: null, reason: null, params: null }
  const { message: error, reason, params = null } = outcome.failure
  return { ok: false, bot: null, error, reason, params }
}

async function replaceToken(state: ChannelsState, userId: UserId, id: string): Promise<string> {
  const channel = await find(state, userId, id)
  if (kindOf(state, channel.type).messenger?.takesToken !== true)
    throw appError('channel_has_no_token')
  const token = newLinkToken()
  await state.repository.change(userId, id, { tokenHash: hashLinkToken(token) })
  return token
}

async function replaceAddress(
  state: ChannelsState,
  userId: UserId,
  id: string,
): Promise<z.infer<typeof AddressToken>> {
  const channel = await find(state, userId, id)
  const token = newAddressToken(kindOf(state, channel.type))
  if (channel.receive === null || token === null) throw appError('channel_has_no_address')
  const changed = await state.repository.change(userId, id, { addressToken: token })
  const address = changed === undefined ? null : addressOf(state, changed)
  if (address === null) throw appError('channel_not_found')
  told(state, userId, id)
  return { token, address }
}

async function admit(state: ChannelsState, userId: UserId, recipients: number): Promise<void> {
  const retryAfter = await state.allowance.acquire(userId, recipients)
  if (retryAfter !== null)
    throw appError(
      'recipients_exhausted',
      { limit: state.messagesPerHour, minutes: Math.ceil(retryAfter / 60) },
      { retryAfter },
    )
  await state.countMessages?.(userId, recipients)
}

async function send(
  state: ChannelsState,
  userId: UserId,
  name: string,
  {
    text,
    conversationId,
    signal,
  }: { text: string; conversationId: ConversationId | null; signal: AbortSignal },
): Promise<Delivery | null> {
  const channel = await state.repository.findByName(userId, name)
  if (channel === undefined) return null
  await admit(state, userId, recipientsOf(state, channel))
  const id = newId()
  const now = state.now()
  const cancel = new AbortController()
  const attempted = state.outbox.afterFirstAttempt(
    id,
    deadline(FIRST_ATTEMPT_TIMEOUT_MS, signal, cancel.signal),
  )
  const stored = await state.repository
    .enqueue(
      {
        id,
        userId,
        channelId: channel.id,
        conversationId,
        content: text,
        status: 'pending',
        attempts: 0,
        nextAttemptAt: now,
        lastError: null,
        lastFailure: null,
        createdAt: now,
      },
      MAX_PENDING_DELIVERIES,
    )
    .catch((error: unknown) => {
      cancel.abort()
      throw error
    })
  if (stored !== 'stored') cancel.abort()
  if (stored === 'no_channel') return null
  if (stored === 'full') throw appError('outbox_full', { limit: MAX_PENDING_DELIVERIES })
  state.outbox.wake()
  await attempted
  const delivery = await state.repository.findDelivery(id)
  return { id, status: delivery?.status ?? 'failed', error: delivery?.lastError ?? null }
}
