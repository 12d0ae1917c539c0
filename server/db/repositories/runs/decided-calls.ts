// The tool calls that a user has approved or rejected, to show what a grant would have allowed.
import { and, desc, eq, gte, inArray, or } from 'drizzle-orm'
import type { ConversationId, ProjectId, UserId } from '../../../protocol/ids.ts'
import type { ScheduleId } from '../../../protocol/schedules/schedule.ts'
import type { Database } from '../../database.ts'
import { afterMoment } from '../../fragments.ts'
import type { ApprovalRow } from './approvals.ts'

/** A decided call. */
export type DecidedCall = Pick<
  ApprovalRow,
  | 'id'
  | 'name'
  | 'arguments'
  | 'decidedArguments'
  | 'riskLevel'
  | 'status'
  | 'tainted'
  | 'createdAt'
>

/** Which decided calls to read. */
export interface DecidedSelection {
  userId: UserId
  /** The names under which models call the tool. */
  names: readonly string[]
  place:
    | { conversationId: ConversationId }
    | { projectId: ProjectId }
    /** The runs that it started, and their background tasks. */
    | { scheduleId: ScheduleId }
  since: Date
}

/** How many calls are read at once: their arguments may be long. */
const BATCH_SIZE = 50

/** Uses the tables `approvals` and `runs`; reads `occurrences`. */
export function createDecidedCallRepository({ read, tables }: Database) {
  const { approvals, runs, occurrences } = tables

  const within = (place: DecidedSelection['place']) => {
    if ('projectId' in place) return eq(runs.projectId, place.projectId)
    if ('conversationId' in place) return eq(runs.conversationId, place.conversationId)
    const started = read
      .select({ id: occurrences.runId })
      .from(occurrences)
      .where(eq(occurrences.scheduleId, place.scheduleId))
    return or(inArray(runs.id, started), inArray(runs.parentRunId, started))
  }

  return {
    /** Newest first, in batches. */
    async *stream({
      userId,
      names,
      place,
      since,
    }: DecidedSelection): AsyncGenerator<readonly DecidedCall[]> {
      let last: DecidedCall | undefined
      do {
        const rows: DecidedCall[] = await read
          .select({
            id: approvals.id,
            name: approvals.name,
            arguments: approvals.arguments,
            decidedArguments: approvals.decidedArguments,
            riskLevel: approvals.riskLevel,
            status: approvals.status,
            tainted: approvals.tainted,
            createdAt: approvals.createdAt,
          })
          .from(approvals)
          .innerJoin(runs, eq(runs.id, approvals.runId))
          .where(
            and(
              eq(approvals.userId, userId),
              inArray(approvals.name, [...names]),
              inArray(approvals.status, ['approved', 'rejected']),
              gte(approvals.createdAt, since),
              within(place),
              last === undefined
                ? undefined
                : afterMoment(approvals.createdAt, approvals.id, last.createdAt, last.id),
            ),
          )
          .orderBy(desc(approvals.createdAt), desc(approvals.id))
          .limit(BATCH_SIZE)
        yield rows
        last = rows.length < BATCH_SIZE ? undefined : rows.at(-1)
      } while (last !== undefined)
    },
  }
}
