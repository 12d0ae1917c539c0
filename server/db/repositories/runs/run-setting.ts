// What a run reads besides its messages, in one statement, because every send runs it.
import { and, eq, isNull, sql } from 'drizzle-orm'
import { NO_PREFERENCES, type Preferences } from '../../../protocol/accounts/preferences.ts'
import type { ConversationId, UserId } from '../../../protocol/ids.ts'
import type { Database, Reader } from '../../database.ts'
import { prepareOnEach } from '../../fragments.ts'

/** The conversation of a run, and its user's memory and preferences. */
export interface RunSetting {
  conversation: Database['tables']['conversations']['$inferSelect']
  /** The user's memory as Markdown; empty when there is none. */
  memory: string
  preferences: Preferences
}

/** The reader returns nothing if the user has no such conversation, or it is in the trash. */
export function createRunSettingReader({
  read,
  tables: { conversations, memories, preferences },
}: Database) {
  const statement = prepareOnEach((read: Reader) =>
    read
      .select({
        conversation: conversations,
        memory: memories.content,
        preferences: preferences.value,
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
    }
  }
}
