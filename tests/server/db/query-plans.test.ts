// The cost of lists and pages does not grow with the data: both databases read them from an index, in its order.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database, DatabaseSettings } from '../../../server/db/database.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import type { ConversationId, MessageId, ProjectId, UserId } from '../../../server/protocol/ids.ts'
import { laterByCopy, makeCopies } from '../../support/store/copies.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { explain, onConnection } from '../../support/store/explain.ts'
import { chatRun, say, somebody } from '../../support/store/store-rows.ts'

describe.each(DIALECTS)('query plans (%s)', (dialect) => {
  const databases = useDatabases()
  let settings: DatabaseSettings
  let database: Database
  let store: Store
  let statements: { text: string; values: unknown[] }[] = []
  let userId: UserId
  let projectId: ProjectId
  let conversationId: ConversationId
  const leaf = 'm10000' as MessageId // the last message of the chain that is created below

  /** The query plan of each statement that `work` runs. */
  async function plansOf(work: () => Promise<unknown>): Promise<string[]> {
    statements = []
    await work()
    return Promise.all(statements.map(({ text, values }) => explain(settings, text, values)))
  }

  const usesOnly = (plan: string, index: string): void => {
    expect(plan).toContain(index)
    // The cost of a full table scan or a sort grows with the number of rows.
    expect(plan).not.toMatch(
      /SCAN (conversations|messages|runs)|Seq Scan on (conversations|messages|runs)/,
    )
    expect(plan).not.toMatch(/TEMP B-TREE|\bSort\b/)
  }

  beforeAll(async () => {
    settings = await databases.settings(dialect)
    database = await databases.connect(settings, {
      onStatement: (text, values) => statements.push({ text, values }),
    })
    store = createStore(database)
    userId = (await somebody(store)).id
    projectId = (await store.projects.create(userId, { name: 'p', description: null })).id
    const seed = await store.conversations.create(userId, { title: 'seed', projectId })
    conversationId = seed.id
    const { conversations, messages } = database.tables
    await makeCopies(settings, conversations, seed, 100_000, {
      id: `'c' || n.i`,
      project_id: 'case when n.i % 2 = 0 then original.project_id end',
      updated_at: laterByCopy(settings, 'updated_at'),
    })
    const root = await say(database, conversationId, 'root', null)
    await makeCopies(settings, messages, { id: root }, 10_000, {
      row: 'n.i + 1000',
      id: `'m' || n.i`,
      parent_id: `case when n.i = 1 then original.id else 'm' || (n.i - 1) end`,
    })
    // Enough rows in the other tables that a full scan of them would be costly, too.
    await makeCopies(settings, database.tables.users, { id: userId }, 5_000, {
      id: `'u' || n.i`,
      username_key: `'u' || n.i`,
    })
    const run = chatRun(userId, conversationId, leaf)
    await database.write((tx) => store.runs.insert(tx, run))
    await makeCopies(settings, database.tables.runs, run, 5_000, {
      id: `'r' || n.i`,
      conversation_id: `'c' || n.i`,
      ended_at: 'original.created_at',
    })
    const stranger = (await somebody(store)).id
    const other = await store.projects.create(stranger, { name: 'o', description: null })
    await makeCopies(settings, database.tables.projects, other, 20_000, { id: `'p' || n.i` })
    await onConnection(settings, 'analyze')
  })

  test("a list of projects does not read other people's projects", async () => {
    const plans = await plansOf(async () => {
      expect((await store.projects.list(userId, { limit: 50 })).total).toBe(1)
      expect(await store.projects.names(userId)).toHaveLength(1)
    })
    expect(plans.length).toBeGreaterThan(2)
    for (const plan of plans) expect(plan).not.toMatch(/SCAN projects(?!_)|Seq Scan on projects/)
  })

  test('a page among 100,000 conversations is read from the index', async () => {
    const first = await store.conversations.list(userId, { limit: 50 })
    for (const cursor of [undefined, first.nextCursor ?? undefined]) {
      const [plan, ...more] = await plansOf(() =>
        store.conversations.list(userId, { limit: 50, cursor }),
      )
      usesOnly(plan ?? '', 'conversations_list')
      expect(more).toEqual([])
    }
  })

  test('a page of the conversations of a project is read from the index', async () => {
    const [plan] = await plansOf(() => store.conversations.list(userId, { limit: 50, projectId }))
    usesOnly(plan ?? '', 'conversations_list_in_project')
  })

  test('a page of a conversation of 10,000 messages touches only its own rows', async () => {
    const { items } = await store.messages.page(conversationId, leaf, { limit: 50 })
    expect(items).toHaveLength(50)
    const plans = await plansOf(() => store.messages.page(conversationId, leaf, { limit: 50 }))
    expect(plans).toHaveLength(4)
    for (const plan of plans)
      expect(plan).not.toMatch(
        /SCAN (messages|start|parent|sibling|steps|attachments)\b|Seq Scan on messages/,
      )
  })

  test('the user and the runs of a request are found by index', async () => {
    const plans = await plansOf(async () => {
      await store.users.findForSession(userId, 'token', 'session')
      await store.users.findByName('somebody')
      await store.runs.findActive(conversationId)
      await store.runs.unfinished()
      await store.runs.countUnfinished(userId)
    })
    expect(plans).toHaveLength(5)
    for (const plan of plans)
      expect(plan).not.toMatch(/SCAN (users|runs)$|Seq Scan on (users|runs)\b/m)
  })
})

describe('query plans without statistics (sqlite)', () => {
  const databases = useDatabases()

  test('the limit on runs is checked without reading the runs that have ended', async () => {
    const settings = await databases.migrated('sqlite')
    let statements: { text: string; values: unknown[] }[] = []
    const database = await databases.connect(settings, {
      onStatement: (text, values) => statements.push({ text, values }),
    })
    const store = createStore(database)
    const { id: userId } = await somebody(store)
    const conversation = await store.conversations.create(userId, {})
    const run = chatRun(userId, conversation.id, 'm1' as MessageId)
    statements = []
    await store.conversations.findRunSite(userId, conversation.id, undefined)
    await database.write((tx) => store.runs.insert(tx, run))
    await store.runs.countUnfinished(userId)
    await database.write((tx) => store.runs.lockUnfinished(tx, userId))
    const counting = statements.filter(({ text }) => text.includes('count(*)'))
    expect(counting).toHaveLength(4)
    for (const { text, values } of counting) {
      const plan = await explain(settings, text, values)
      expect(plan).toContain('runs_user_unfinished')
      expect(plan).not.toMatch(/runs_user \(/)
    }
  })
})
