// What a run does not read again, because the transaction that stored its turn returned it: the conversation and the branch.
import { beforeAll, expect, test } from 'vitest'
import { storeTurn, type TurnFiles } from '../../../server/chat/send/store-turn.ts'
import type { Database } from '../../../server/db/database.ts'
import type { RunSite } from '../../../server/db/repositories/conversations/turns.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../../../server/protocol/ids.ts'
import { RUN_DEFAULTS } from '../../../server/runs/start/row-defaults.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { say, somebody } from '../../support/store/store-rows.ts'

const NO_FILES: TurnFiles = { attached: [], holdOutsideText: false, discard: async () => {} }

describeOnEachDatabase('the turn of a new run', (open) => {
  let database: Database
  let store: Store
  let userId: UserId
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
    userId = (await somebody(store)).id
  })

  async function siteOf(id: ConversationId): Promise<RunSite> {
    const site = await store.conversations.findRunSite(userId, id, undefined)
    if (site === undefined) throw new Error('the conversation exists')
    return site
  }
  const newSite = async () => siteOf((await store.conversations.create(userId, {})).id)

  /** Stores a message below the leaf of `site`, and reads what a run would. */
  async function send({ conversation }: RunSite, files: TurnFiles = NO_FILES) {
    const questionId = newId<MessageId>()
    const createdAt = new Date()
    const run = {
      ...RUN_DEFAULTS,
      id: newId<RunId>(),
      conversationId: conversation.id,
      userId,
      projectId: null,
      messageId: newId<MessageId>(),
      userMessageId: questionId,
      model: 'demo',
      options: {},
      clientId: null,
      owner: 'here',
      createdAt,
      startedAt: createdAt,
    }
    const known = await database.write(async (tx) => {
      await store.runs.insert(tx, run, 1_000)
      return await storeTurn(
        tx,
        store,
        { kind: 'message', text: 'Hello', attachments: [], place: 'leaf' },
        { run, questionId, conversation, files, title: null },
      )
    })
    const page = { length: 100, maxBytes: 1_000_000 }
    const read = await store.messages.history(conversation.id)(questionId, page)
    return { known, read }
  }

  test('a first message is the whole branch, exactly as stored', async () => {
    const site = await newSite()
    const { known, read } = await send(site)
    expect(known.branch).toEqual(read)
    expect(known.conversation).toEqual((await siteOf(site.conversation.id)).conversation)
  })

  test('the branch of a later message is read from the store', async () => {
    const site = await newSite()
    await say(database, site.conversation.id, 'Came first', null)
    const { known, read } = await send(site)
    expect(known.branch).toBeUndefined()
    expect(read.map(({ text }) => text)).toEqual(['Came first', 'Hello'])
    expect(known.conversation).toEqual((await siteOf(site.conversation.id)).conversation)
  })

  test('a message with text from outside marks the conversation as tainted at once', async () => {
    const { known } = await send(await newSite(), { ...NO_FILES, holdOutsideText: true })
    expect(known.conversation.tainted).toBe(true)
  })

  test("the user's instructions are read in the statement that decides whether the run may start", async () => {
    await store.settings.changeMemory(userId, () => 'Lives in Lisbon')
    await store.settings.changePreferences(userId, { instructions: 'Be brief' })
    const site = await newSite()
    const read = await store.conversations.findRunSetting(userId, site.conversation.id)
    expect(read?.memory).toBe('Lives in Lisbon')
    expect(read?.preferences.instructions).toBe('Be brief')
    expect(site).toMatchObject(read ?? {})
  })
})
