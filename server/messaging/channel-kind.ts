// What a kind of channel is: one file declares one, and one line in `kinds.ts` offers it.
import type { z } from 'zod'

export interface OutgoingMessage {
  /** Stays the same when it is tried again, so that a receiver can drop doubles. */
  id: string
  /** The user's name of the channel. */
  channel: string
  text: string
  createdAt: Date
}

/** What one try came to. `retry` says whether another makes sense; `error` is for the user and holds no secret. */
export type SendOutcome = { ok: true } | { ok: false; error: string; retry: boolean }

export interface ChannelKindSpecification<Settings extends z.ZodType> {
  type: string
  /** Everything the user gives, secrets too. */
  settings: Settings
  /** The part of the settings that may be shown again. */
  present(settings: z.output<Settings>): Record<string, string>
  /** How many people one message reaches; 1 when left out. */
  recipients?(settings: z.output<Settings>): number
  /** One try. May throw; that counts as a failure worth another try. Gives up when the signal aborts. */
  send(
    settings: z.output<Settings>,
    message: OutgoingMessage,
    signal: AbortSignal,
  ): Promise<SendOutcome>
}

/** A kind with its settings' type hidden, so that a list can hold all of them. */
export interface ChannelKind {
  readonly type: string
  /** Checks settings that a user sent; the error names the field. */
  check(settings: unknown): { ok: true } | { ok: false; error: string }
  /** Of settings that were checked; an empty object when they no longer fit. */
  present(settings: unknown): Record<string, string>
  /** How many people one message reaches. */
  recipients(settings: unknown): number
  send(settings: unknown, message: OutgoingMessage, signal: AbortSignal): Promise<SendOutcome>
}

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
    async send(settings, message, signal) {
      const checked = kind.settings.safeParse(settings)
      if (!checked.success)
        return { ok: false, error: 'the settings of this channel no longer fit', retry: false }
      return kind.send(checked.data, message, signal)
    },
  }
}
