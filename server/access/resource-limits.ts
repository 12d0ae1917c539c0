// Limits on resources other than model calls: seconds of programs, and messages to channels.
import pLimit from 'p-limit'
import type { QuotaRepository } from '../db/repositories/accounts/quotas.ts'
import { type AppError, appError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Access } from './access.ts'

/** Limits on messages, program time and other resources that a user may use. */
export interface ResourceLimits {
  /** Counts messages before they are sent. @throws AppError `messages_per_day_used_up`. */
  countMessages(userId: UserId, count: number): Promise<void>
  /**
   * Runs a program and counts its seconds. The seconds of running programs already count.
   * @throws AppError `program_seconds_used_up`, without running it.
   */
  runProgram<T>(userId: UserId, run: () => Promise<T>): Promise<T>
}

/** Counts by user and UTC day. Throws `AppError` from the checks once a limit is reached. */
export function createResourceLimits({
  access,
  quotas,
  onReached,
  now,
}: {
  access: Pick<Access, 'quota'>
  quotas: Pick<QuotaRepository, 'usage' | 'addUsage'>
  /** Called when a request is refused because a limit is reached. */
  onReached?(userId: UserId, refusal: AppError): void
  now(): Date
}): ResourceLimits {
  /** Messages are checked and counted one at a time, so that a burst cannot exceed a limit. */
  const oneByOne = pLimit(1)
  const running = new Map<UserId, Set<number>>()
  const today = (): string => now().toISOString().slice(0, 10)
  const refuse = (
    userId: UserId,
    reason: 'messages_per_day_used_up' | 'program_seconds_used_up',
    limit: number,
  ): AppError => {
    const moment = now()
    const renewsAt = Date.UTC(
      moment.getUTCFullYear(),
      moment.getUTCMonth(),
      moment.getUTCDate() + 1,
    )
    const renews_at = new Date(renewsAt).toISOString()
    const retryAfter = Math.ceil((renewsAt - moment.getTime()) / 1000)
    const refusal = appError(reason, { limit, renews_at }, { retryAfter })
    onReached?.(userId, refusal)
    return refusal
  }
  const used = (userId: UserId, kind: 'messages' | 'program_seconds') =>
    quotas.usage(userId, kind, { from: today(), to: today() })

  return {
    countMessages: (userId, count) =>
      oneByOne(async () => {
        const limit = access.quota(userId).messages_per_day
        if (limit !== null && (await used(userId, 'messages')) + count > limit)
          throw refuse(userId, 'messages_per_day_used_up', limit)
        await quotas.addUsage(userId, 'messages', today(), count)
      }),

    async runProgram(userId, run) {
      const limit = access.quota(userId).program_seconds_per_day
      const begun = performance.now()
      if (limit !== null) {
        const stored = await used(userId, 'program_seconds')
        const inProgress = [...(running.get(userId) ?? [])].reduce(
          (sum, start) => sum + (begun - start) / 1000,
          0,
        )
        if (stored + inProgress >= limit) throw refuse(userId, 'program_seconds_used_up', limit)
      }
      const starts = running.get(userId) ?? new Set()
      running.set(userId, starts.add(begun))
      try {
        return await run()
      } finally {
        starts.delete(begun)
        if (starts.size === 0) running.delete(userId)
        const seconds = (performance.now() - begun) / 1000
        await quotas.addUsage(userId, 'program_seconds', today(), seconds)
      }
    },
  }
}
