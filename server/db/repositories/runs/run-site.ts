// What a run reads besides its messages, and what decides whether it may start: each in one statement, because every send runs both.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { NO_PREFERENCES, type Preferences } from '../../../protocol/accounts/preferences.ts'
import type { ConversationId, RunId, UserId } from '../../../protocol/ids.ts'
import type { Database, Reader } from '../../database.ts'
import { prepareOnEach } from '../../fragments.ts'
import { fromUnfinishedOfUser } from './unfinished-runs.ts'

/** What a user has of a skill of their own, without its files. */
export interface OwnSkill {
  name: string
  sha256: string
}

/** The conversation of a run, and its user's memory, preferences and skills. */
export interface RunSetting {
  conversation: Database['tables']['conversations']['$inferSelect']
  /** The user's memory as Markdown; empty when there is none. */
  memory: string
  preferences: Preferences
  /** The user's own skills, by name. */
  ownSkills: readonly OwnSkill[]
}

const OwnSkills = z.array(z.tuple([z.string(), z.string()]))

/** The own skills of the user of the selected conversation. Nested, because drizzle drops table names from a field's own columns. */
function ownSkillsField({
  dialect,
  tables,
}: Pick<Database, 'dialect' | 'tables'>): SQL<OwnSkill[]> {
  const { conversations, userSkills } = tables
  const owned = sql`${userSkills} where ${userSkills.userId} = ${conversations.userId}`
  const list =
    dialect === 'sqlite'
      ? sql`(select json_group_array(json_array(name, sha256)) from (select ${userSkills.name} as name, ${userSkills.sha256} as sha256 from ${owned} order by name))`
      : sql`(select coalesce(json_agg(json_build_array(${userSkills.name}, ${userSkills.sha256}) order by ${userSkills.name}), '[]')::text from ${owned})`
  return sql`${list}`.mapWith((json: unknown) =>
    OwnSkills.parse(JSON.parse(String(json))).map(([name, sha256]): OwnSkill => ({ name, sha256 })),
  )
}

/** What both readers select, and of which conversation: the placeholders are `id` and `userId`. */
function settingOf(database: Database) {
  const { conversations, memories, preferences } = database.tables
  return {
    fields: {
      conversation: conversations,
      memory: memories.content,
      preferences: preferences.value,
      ownSkills: ownSkillsField(database),
    },
    condition: and(
      eq(conversations.id, sql.placeholder('id')),
      eq(conversations.userId, sql.placeholder('userId')),
      isNull(conversations.deletedAt),
    ),
  }
}

/** The row with what a user has who has stored nothing. */
const withDefaults = <Row extends { memory: string | null; preferences: Preferences | null }>(
  row: Row,
) => ({
  ...row,
  memory: row.memory ?? '',
  preferences: { ...NO_PREFERENCES, ...row.preferences },
})

/** The reader returns nothing if the user has no such conversation, or it is in the trash. */
export function createRunSettingReader(database: Database) {
  const { read } = database
  const { conversations, memories, preferences } = database.tables
  const { fields, condition } = settingOf(database)
  const statement = prepareOnEach((read: Reader) =>
    read
      .select(fields)
      .from(conversations)
      .leftJoin(memories, eq(memories.userId, conversations.userId))
      .leftJoin(preferences, eq(preferences.userId, conversations.userId))
      .where(condition)
      .prepare('run setting'),
  )

  return async (
    userId: UserId,
    id: ConversationId,
    reader: Reader = read,
  ): Promise<RunSetting | undefined> => {
    const [found] = await statement(reader).execute({ userId, id })
    return found === undefined ? undefined : withDefaults(found)
  }
}

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
  const { fields, condition } = settingOf(database)
  /** A value from the runs that meet the condition. Nested, because drizzle drops table names from a field's own columns. */
  const fromRuns = (value: SQL, condition: SQL, table = sql`${runs}`) =>
    sql`${sql`(select ${value} from ${table} where ${condition})`}`
  const inConversation = sql`${runs.conversationId} = ${conversations.id}`
  const runSiteStatement = read
    .select({
      ...fields,
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
    })
    .from(conversations)
    .leftJoin(memories, eq(memories.userId, conversations.userId))
    .leftJoin(preferences, eq(preferences.userId, conversations.userId))
    .where(condition)
    .prepare('run site')

  return async (
    userId: UserId,
    id: ConversationId,
    clientId: string | undefined,
  ): Promise<RunSite | undefined> => {
    const [site] = await runSiteStatement.execute({ userId, id, clientId: clientId ?? null })
    return site === undefined ? undefined : withDefaults(site)
  }
}
