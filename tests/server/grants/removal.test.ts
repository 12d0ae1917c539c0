// Removing a grant: no version of the program that runs on the database lets calls through any more.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { createStore } from '../../../server/db/store.ts'
import { rememberTool } from '../../../server/grants/remember.ts'
import { removeGrant } from '../../../server/grants/remove.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { storeRun } from '../../support/store/store-rows.ts'

const databases = useDatabases()

test.each(DIALECTS)(
  'a removed approval also ends for earlier versions, which know it as a key of the conversation; others stay (%s)',
  async (dialect) => {
    const database = await databases.open(dialect)
    const store = createStore(database)
    const run = await storeRun(database, store)
    const { conversations } = database.tables
    const ofConversation = eq(conversations.id, run.conversationId)
    await database.write(async (tx) => {
      await tx
        .update(conversations)
        .set({ approvalGrants: ['file_write', 'mcp__mail__send@01', 'mcp__mail__send@02'] })
        .where(ofConversation)
    })
    const actor = { userId: run.userId, username: null, address: null, details: {} }
    const dependencies = { store, database, announce() {}, now: () => new Date() }
    const remove = async (key: string, isForRun: boolean) => {
      const made = await database.write((tx) =>
        rememberTool(
          tx,
          { run, isForRun, key, createdFrom: 'request', at: new Date() },
          actor,
          dependencies,
        ),
      )
      await removeGrant(run.userId, made?.id ?? '', actor, dependencies)
      const [row] = await database.read
        .select({ keys: conversations.approvalGrants })
        .from(conversations)
        .where(ofConversation)
      return row?.keys
    }
    // An approval for a run is not one for its conversation.
    expect(await remove('file_write', true)).toHaveLength(3)
    expect(await remove('mcp__mail__send@01', false)).toEqual(['file_write', 'mcp__mail__send@02'])
    expect(await remove('file_write', false)).toEqual(['mcp__mail__send@02'])
  },
)
