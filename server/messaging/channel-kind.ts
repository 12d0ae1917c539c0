// A kind of channel: one file defines it, and one line in `kinds.ts` registers it.
import type { z } from 'zod'
import { type DescribedFailure, storedFailure } from '../protocol/failures/stored.ts'

/** A message that is sent through a channel. */
export interface OutgoingMessage {
  /** The same for every attempt, so that a receiver can drop duplicates. */
  id: string
  /** The user's name for the channel. */
  channel: string
  text: string
  createdAt: Date
}

/**
 * The outcome of one attempt. `retry` says whether another one makes sense; `failure` is for the user and contains no
 * secret.
 */
export type SendOutcome = { ok: true } | { ok: false; failure: DescribedFailure; retry: boolean }

/** What a file for a kind of channel defines. */
export interface ChannelKindSpecification<Settings extends z.ZodType> {
  type: string
  /** All settings of the user, including secrets. */
  settings: Settings
  /** The settings that clients may see: no secrets. */
  present(settings: z.output<Settings>): Record<string, string>
  /** How many people one message reaches; 1 by default. */
  recipients?(settings: z.output<Settings>): number
  /** Addresses whose owners have to agree that mail goes there; none by default. */
  mailAddresses?(settings: z.output<Settings>): readonly string[]
  /** Makes one attempt. May throw, which counts as a failure worth retrying. Stops when the signal is aborted. */
  send(
    settings: z.output<Settings>,
    message: OutgoingMessage,
    signal: AbortSignal,
  ): Promise<SendOutcome>
}

/** A kind without the type of its settings, so that one map can hold all kinds. */
export interface ChannelKind {
  readonly type: string
  /** Checks settings from a user; the error names the field. */
  check(settings: unknown): { ok: true } | { ok: false; error: string }
  /** The settings that clients may see; an empty object when the stored settings no longer match the schema. */
  present(settings: unknown): Record<string, string>
  /** How many people one message reaches. */
  recipients(settings: unknown): number
  /** Addresses whose owners have to agree that mail goes there. */
  mailAddresses(settings: unknown): readonly string[]
  send(settings: unknown, message: OutgoingMessage, signal: AbortSignal): Promise<SendOutcome>
}

/** Checks settings with the schema of the kind before anything else sees them. */
export function defineChannelKind<Settings extends z.ZodType>(
  kind: ChannelKindSpecification<Settings>,
): ChannelKind {
  return {
    type: kind.type,
    check(settings) {
      const checked = kind.settings.safeParse(settings)
      if (checked.success) return { ok: true }
      const faults = checked.error.issues.map(
        (issue) => `settings.${issue.path.join('.')}: ${issue.message}`,
      )
      return { ok: false, error: faults.slice(0, 5).join('; ') }
    },
    present(settings) {
      const checked = kind.settings.safeParse(settings)
      return checked.success ? kind.present(checked.data) : {}
    },
    recipients(settings) {
      const checked = kind.settings.safeParse(settings)
      return checked.success ? (kind.recipients?.(checked.data) ?? 1) : 1
    },
    mailAddresses(settings) {
      const checked = kind.settings.safeParse(settings)
      return checked.success ? (kind.mailAddresses?.(checked.data) ?? []) : []
    },
    async send(settings, message, signal) {
      const checked = kind.settings.safeParse(settings)
      if (!checked.success)
        return { ok: false, failure: storedFailure('delivery_settings_unfit'), retry: false }
      return kind.send(checked.data, message, signal)
    },
  }
}
