// What a run reads besides its messages, in one statement, because every send runs it.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { NO_PREFERENCES, type Preferences } from '../../../protocol/accounts/preferences.ts'
import type { ConversationId, UserId } from '../../../protocol/ids.ts'
import type { Database, Reader } from '../../database.ts'
import { prepareOnEach } from '../../fragments.ts'

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
export function ownSkillsField({
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

/** The reader returns nothing if the user has no such conversation, or it is in the trash. */
export function createRunSettingReader(database: Database) {
  const { read } = database
  const { conversations, memories, preferences } = database.tables
  const statement = prepareOnEach((read: Reader) =>
    read
      .select({
        conversation: conversations,
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
      .prepare('run setting'),
  )

  return async (
    userId: UserId,
    id: ConversationId,
    reader: Reader = read,
  ): Promise<RunSetting | undefined> => {
    const [found] = await statement(reader).execute({ userId, id })
    if (found === undefined) return undefined
    return {
      conversation: found.conversation,
      memory: found.memory ?? '',
      preferences: { ...NO_PREFERENCES, ...found.preferences },
      ownSkills: found.ownSkills,
    }
  }
}
