// What decides whether a run may start in a conversation, in one statement, because every send begins with it.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { NO_PREFERENCES } from '../../../protocol/accounts/preferences.ts'
import type { ConversationId, RunId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { ownSkillsField, type RunSetting } from './run-setting.ts'
import { fromUnfinishedOfUser } from './unfinished-runs.ts'

/** What decides whether a run may start in a conversation, and what the run reads besides its messages. */
export interface RunSite extends RunSetting {
  /** The active run of the conversation, except background tasks; of two answers beside each other, one. */
  activeRunId: RunId | null
  /** Unfinished runs of the user in all conversations. */
  unfinishedRuns: number
  /** The run that was started with this client id. */
  duplicateRunId: RunId | null
}

/** The reader returns nothing if the user has no such conversation, or it is in the trash. */
export function createRunSiteReader(database: Database) {
  const { read, tables } = database
  const { conversations, runs, memories, preferences } = tables
  /** A value from the runs that meet the condition. Nested, because drizzle drops table names from a field's own columns. */
  const fromRuns = (value: SQL, condition: SQL, table = sql`${runs}`) =>
    sql`${sql`(select ${value} from ${table} where ${condition})`}`
  const inConversation = sql`${runs.conversationId} = ${conversations.id}`
  const runSiteStatement = read
    .select({
      conversation: conversations,
      activeRunId: fromRuns(
        sql`${runs.id}`,
        // Exactly the condition of the partial unique index, so that it is used and there are at most two rows.
        sql`${inConversation} and ${runs.kind} = 'chat' and ${runs.endedAt} is null
          order by ${runs.beside} limit 1`,
      ).mapWith(runs.id),
      unfinishedRuns: fromRuns(
        sql`count(*)`,
        sql`${runs.userId} = ${conversations.userId} and ${runs.endedAt} is null`,
        fromUnfinishedOfUser(tables),
      ).mapWith(Number),
      duplicateRunId: fromRuns(
        sql`${runs.id}`,
        sql`${inConversation} and ${runs.clientId} = ${sql.placeholder('clientId')}`,
      ).mapWith(runs.id),
      memory: memories.content,
      preferences: preferences.value,
      ownSkills: ownSkillsField(database),
    })
    .from(conversations)
    .leftJoin(memories, eq(memories.userId, conversations.userId))
    .leftJoin(preferences, eq(preferences.userId, conversations.userId))
    .where(
      and(
        eq(conversations.id, sql.placeholder('id')),
        eq(conversations.userId, sql.placeholder('userId')),
        isNull(conversations.deletedAt),
      ),
    )
    .prepare('run site')

  return async (
    userId: UserId,
    id: ConversationId,
    clientId: string | undefined,
  ): Promise<RunSite | undefined> => {
    const [site] = await runSiteStatement.execute({ userId, id, clientId: clientId ?? null })
    return site === undefined
      ? undefined
      : {
          ...site,
          memory: site.memory ?? '',
          preferences: { ...NO_PREFERENCES, ...site.preferences },
        }
  }
}
