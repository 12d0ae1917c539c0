// A kind of channel: one file defines it, and one line in `kinds.ts` registers it.
import { z } from 'zod'
import { type AppError, appError } from '../errors.ts'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'
import {
  type Destination,
  type Messenger,
  type MessengerSpecification,
  type PartOutcome,
  ReceivingEnded,
} from './messenger.ts'

/** A message that is sent through a channel. */
export interface OutgoingMessage {
  /** Equal for every attempt, so that a receiver can drop duplicates. */
  id: string
  /** The user's name for the channel. */
  channel: string
  text: string
  createdAt: Date
  /** The chat with the owner of the channel, if they have written to it; only for messengers. */
  to?: Destination | null
}

/** The outcome of one attempt. `retry`: whether another attempt makes sense; `failure`: for the user, without secrets. */
export type SendOutcome = { ok: true } | { ok: false; failure: DescribedFailure; retry: boolean }

/** What came of trying settings; `bot`: as whom the service knows the bot, if it says so. */
export type TestOutcome =
  | { ok: true; bot: string | null }
  | { ok: false; failure: DescribedFailure }

/** The definition of a kind of channel. */
export interface ChannelKindSpecification<Settings extends z.ZodType> {
  type: string
  /** All settings of the user, including secrets. */
  settings: Settings
  /** The reason why this server cannot send with valid settings; undefined if it can. */
  refuse?(settings: z.output<Settings>): AppError | undefined
  /** The settings that clients may see: no secrets. */
  present(settings: z.output<Settings>): Record<string, string>
  /** Fields that clients do not see, or not whole, with what belongs to them: they stay in a change that does not name them. */
  kept?: readonly string[]
  /** A kept field of which a change names a part. By default, that replaces it. */
  joinKept?(stored: unknown, given: unknown): unknown
  /** How many people one message reaches; 1 by default. */
  recipients?(settings: z.output<Settings>): number
  /** Addresses whose owners must agree to receive email; none by default. */
  mailAddresses?(settings: z.output<Settings>): readonly string[]
  /** Absent: it only sends. */
  messenger?: MessengerSpecification<z.output<Settings>>
  /**
   * Tries the settings without telling anybody anything. Absent: `message` is sent as a trial.
   * @throws ReceivingEnded why it could not receive.
   */
  test?(settings: z.output<Settings>, signal: AbortSignal): Promise<TestOutcome>
  /** Makes one attempt. An exception counts as a failure worth retrying. Stops when the signal is aborted. */
  send(
    settings: z.output<Settings>,
    message: OutgoingMessage,
    signal: AbortSignal,
  ): Promise<SendOutcome>
}

/** A kind without the type of its settings, so that one map can hold all kinds. */
export interface ChannelKind {
  readonly type: string
  /** Null: it only sends. */
  readonly messenger: Messenger | null
  /** Throws an `AppError` for wrong settings from a user, which names the field, and for what this server cannot do. */
  check(settings: unknown): void
  /** The settings that clients may see; an empty object when the stored settings no longer match the schema. */
  present(settings: unknown): Record<string, string>
  /** Stored settings after a change, not checked: a kept field that is not named stays, and null removes it. */
  join(stored: unknown, given: Record<string, unknown>): Record<string, unknown>
  /** How many people one message reaches. */
  recipients(settings: unknown): number
  /** Addresses whose owners must agree to receive email. */
  mailAddresses(settings: unknown): readonly string[]
  /** Tries the settings; where that is the only way, by sending `message`. */
  test(settings: unknown, message: OutgoingMessage, signal: AbortSignal): Promise<TestOutcome>
  send(settings: unknown, message: OutgoingMessage, signal: AbortSignal): Promise<SendOutcome>
}

/** Checks settings with the kind's schema before any other code sees them. */
export function defineChannelKind<Settings extends z.ZodType>(
  kind: ChannelKindSpecification<Settings>,
): ChannelKind {
  return {
    type: kind.type,
    messenger: kind.messenger === undefined ? null : checkedMessenger(kind, kind.messenger),
    check(settings) {
      const checked = kind.settings.safeParse(settings)
      if (!checked.success) {
        const faults = checked.error.issues.map(({ path, message }) =>
          [['settings', ...path].join('.'), message].join(': '),
        )
        throw appError('channel_settings_invalid', { detail: faults.slice(0, 5).join('; ') })
      }
      const refusal = kind.refuse?.(checked.data)
      if (refusal !== undefined) throw refusal
    },
    present(settings) {
      const checked = kind.settings.safeParse(settings)
      return checked.success ? kind.present(checked.data) : {}
    },
    join(stored, given) {
      const joined = { ...given }
      for (const name of kind.kept ?? []) {
        const before = fieldOf(stored, name)
        const after = given[name]
        if (after === null) delete joined[name]
        else if (before !== undefined)
          joined[name] = after === undefined ? before : (kind.joinKept?.(before, after) ?? after)
      }
      return joined
    },
    recipients(settings) {
      const checked = kind.settings.safeParse(settings)
      return checked.success ? (kind.recipients?.(checked.data) ?? 1) : 1
    },
    mailAddresses(settings) {
      const checked = kind.settings.safeParse(settings)
      return checked.success ? (kind.mailAddresses?.(checked.data) ?? []) : []
    },
    async test(settings, message, signal) {
      const checked = kind.settings.safeParse(settings)
      if (!checked.success) return { ok: false, failure: storedFailure('delivery_settings_unfit') }
      try {
        if (kind.test !== undefined) return await kind.test(checked.data, signal)
        const sent = await kind.send(checked.data, message, signal)
        return sent.ok ? { ok: true, bot: null } : sent
      } catch (error) {
        if (!(error instanceof ReceivingEnded)) throw error
        return { ok: false, failure: error.failure }
      }
    },
    async send(settings, message, signal) {
      const checked = kind.settings.safeParse(settings)
      if (!checked.success)
        return { ok: false, failure: storedFailure('delivery_settings_unfit'), retry: false }
      return kind.send(checked.data, message, signal)
    },
  }
}

const fieldOf = (settings: unknown, name: string): unknown =>
  z.record(z.string(), z.unknown()).safeParse(settings).data?.[name]

/** The messenger of a kind, which checks stored settings before it uses them. */
function checkedMessenger<Settings extends z.ZodType>(
  { settings: schema }: Pick<ChannelKindSpecification<Settings>, 'settings'>,
  messenger: MessengerSpecification<z.output<Settings>>,
): Messenger {
  const unfit = storedFailure('delivery_settings_unfit')
  const read = (settings: unknown): z.output<Settings> => {
    const checked = schema.safeParse(settings)
    if (!checked.success) throw new ReceivingEnded('error', unfit)
    return checked.data
  }
  const { addressOf, codesPerHour, receive, refuse, showProgress, showTyping, trustedSender } =
    messenger
  return {
    maxCharacters: messenger.maxCharacters,
    takesToken: messenger.takesToken === true,
    hasButtons: messenger.hasButtons !== false,
    ...(codesPerHour === undefined ? {} : { codesPerHour }),
    ...(addressOf === undefined
      ? {}
      : { addressOf: (settings, token) => addressOf(read(settings), token) }),
    ...(refuse === undefined ? {} : { refuse: (settings) => refuse(read(settings)) }),
    botOf: (settings) => messenger.botOf(read(settings)),
    trustedSender: (settings) => trustedSender?.(read(settings)) ?? null,
    ...(receive === undefined
      ? {}
      : { receive: (settings, inbox, signal) => receive(read(settings), inbox, signal) }),
    async send(settings, to, part, signal): Promise<PartOutcome> {
      const checked = schema.safeParse(settings)
      if (!checked.success) return { ok: false, failure: unfit, retry: false }
      return await messenger.send(checked.data, to, part, signal)
    },
    ...(showProgress === undefined
      ? {}
      : {
          showProgress: (settings, to, progress, signal) =>
            showProgress(read(settings), to, progress, signal),
        }),
    ...(showTyping === undefined
      ? {}
      : { showTyping: (settings, to, signal) => showTyping(read(settings), to, signal) }),
  }
}
