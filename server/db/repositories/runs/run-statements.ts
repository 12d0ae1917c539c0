// The statements about runs that are executed often: building one costs several times more than running it.
import { and, asc, eq, isNull, lt, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'
import { countAll, prepareOnEach, prepareUpdates, valuesOf } from '../../fragments.ts'
import { isFirstTaken, isInTheWay, otherRuns } from './in-the-way.ts'
import { fromUnfinishedOfUser } from './unfinished-runs.ts'

/** Call it once per connection. `write` and `writeOnce` change nothing for an attempt that is no longer the current one. */
export function prepareRunStatements({ read, tables }: Database) {
  const { runs, users } = tables
  const unfinishedOfUser = fromUnfinishedOfUser(tables)
  const active = read
    .select()
    .from(runs)
    .where(
      and(
        eq(runs.conversationId, sql.placeholder('conversationId')),
        // Exactly the condition of the partial unique index, so that it is used and there are at most two rows.
        sql`${runs.kind} = 'chat' and ${runs.endedAt} is null`,
      ),
    )
    .orderBy(asc(runs.beside))
    .limit(1)
    .prepare('active run')
  const unfinished = read
    .select({ count: countAll })
    .from(unfinishedOfUser)
    .where(and(eq(runs.userId, sql.placeholder('userId')), isNull(runs.endedAt)))
    .prepare('unfinished runs')
  const insert = prepareOnEach((tx) =>
    tx
      .insert(runs)
      .select(
        sql`select ${valuesOf(runs, '', {
          beside: (asked) =>
            sql`(${asked} and ${isFirstTaken(tables, sql.placeholder('conversationId'))})`,
        })}
          where exists (select 1 from ${users}
              where ${users.id} = ${sql.placeholder('userId')} and ${users.isActive})
            and (select count(*) from ${unfinishedOfUser}
              where ${runs.userId} = ${sql.placeholder('userId')} and ${runs.endedAt} is null) < ${sql.placeholder('limit')}
            and not exists (select 1 from ${otherRuns(tables)} where ${isInTheWay({
              kind: sql.placeholder('kind'),
              conversationId: sql.placeholder('conversationId'),
              beside: sql`${sql.param(sql.placeholder('beside'), runs.beside)}`,
              userMessageId: sql.placeholder('userMessageId'),
            })})`,
      )
      .onConflictDoNothing({ target: runs.id })
      .returning({ beside: runs.beside })
      .prepare('insert run'),
  )
  const currentAttempt = and(
    eq(runs.id, sql.placeholder('attemptedRun')),
    eq(runs.attempt, sql.placeholder('currentAttempt')),
    isNull(runs.endedAt),
  )
  const write = prepareUpdates('write run', runs, (tx, set, name) =>
    tx.update(runs).set(set).where(currentAttempt).returning({ id: runs.id }).prepare(name),
  )
  const writeOnce = prepareUpdates('write run once', runs, (tx, set, name) =>
    tx
      .update(runs)
      .set(set)
      .where(and(currentAttempt, lt(runs.revision, sql.placeholder('newRevision'))))
      .returning({ id: runs.id })
      .prepare(name),
  )
  return { active, unfinished, insert, write, writeOnce }
}
