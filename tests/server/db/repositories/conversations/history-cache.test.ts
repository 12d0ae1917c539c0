// Remembered histories of branches never differ from what is stored, whichever process writes.
import { and, eq } from 'drizzle-orm'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import type {
  CallId,
  ConversationId,
  MessageId,
  UserId,
} from '../../../../../server/protocol/ids.ts'
import { type Random, rounds, SEED } from '../../../../support/random.ts'
import { useDatabases } from '../../../../support/store/databases.ts'
import { DIALECTS } from '../../../../support/store/dialects.ts'
import { PAGE, readAll } from '../../../../support/store/histories.ts'
import { chatRun, say, somebody } from '../../../../support/store/store-rows.ts'

for (const dialect of DIALECTS)
  describe(`remembered history (${dialect})`, () => {
    const databases = useDatabases()
    /** Connections of two processes. SQLite has one owner, so there the other is the one that wrote before a restart. */
    let database: Database
    let other: Database
    let store: Store
    let userId: UserId
    let statements: { sql: string; values: unknown[] }[] = []
    beforeAll(async () => {
      const settings = await databases.migrated(dialect)
      database = await databases.connect(settings, {
        onStatement: (sql, values) => statements.push({ sql, values }),
      })
      other = await databases.connect(settings)
      store = createStore(database)
      userId = (await somebody(store)).id
    })
    const conversation = async (): Promise<ConversationId> =>
      (await store.conversations.create(userId, {})).id

    /** A question with the answer of a run that has ended. */
    async function addTurn(
      writer: Database,
      id: ConversationId,
      parent: MessageId | null,
      end: { status: 'completed' | 'failed' | 'stopped'; finishReason?: 'stop' | 'budget' } = {
        status: 'completed',
      },
    ): Promise<MessageId> {
      const question = await say(writer, id, `Question ${newId<string>()}`, parent)
      const run = chatRun(userId, id, newId<MessageId>())
      const answer = await say(writer, id, 'An answer', question, {
        id: run.messageId,
        role: 'assistant',
        runId: run.id,
        status: end.status,
      })
      const own = createStore(writer)
      await writer.write(async (tx) => {
        await own.runs.insert(tx, { ...run, status: 'running' }, 10_000)
        await own.steps.store(tx, userId, prose(answer, 0, `Text ${newId<string>()}`))
        await own.runs.end(tx, run.id, {
          status: end.status,
          finishReason: end.status === 'completed' ? (end.finishReason ?? 'stop') : null,
          state: { prompt: { note: `note ${newId<string>()}`, outside: false } },
          endedAt: new Date(),
        })
      })
      return answer
    }

    const prose = (messageId: MessageId, position: number, content: string) => ({
      ...{ messageId, position, content, type: 'text' as const, skipped: false, closed: true },
    })

    const expectCurrent = async (id: ConversationId, leaf: MessageId, what = ''): Promise<void> => {
      const remembered = await readAll(store, id, leaf)
      // A new store remembers nothing.
      expect(remembered, what).toEqual(await readAll(createStore(database), id, leaf))
    }

    test('a send in a long conversation reads what is new, in two statements', async () => {
      const id = await conversation()
      let leaf: MessageId | null = null
      for (let at = 0; at < 60; at += 1) leaf = await addTurn(database, id, leaf)
      await readAll(store, id, leaf ?? newId<MessageId>())
      const question = await say(database, id, 'And now?', leaf)
      statements = []
      const messages = await readAll(store, id, question)
      expect(messages).toHaveLength(121)
      expect(statements).toHaveLength(2)
      for (const { values } of statements) expect(values).not.toContain(PAGE.length)
      await expectCurrent(id, question)
    })

    test('the same message is the same object in every reading', async () => {
      const id = await conversation()
      const first = await addTurn(database, id, null)
      const second = await addTurn(database, id, first)
      const before = await readAll(store, id, second)
      const after = await readAll(store, id, await addTurn(database, id, second))
      expect(after).toHaveLength(6)
      for (const [at, message] of before.entries()) expect(after[at]).toBe(message)
    })

    test('an answer whose run is resumed is read again, until it can change no more', async () => {
      const id = await conversation()
      const failed = await addTurn(database, id, null, { status: 'failed' })
      let leaf = failed
      for (let at = 0; at < 4; at += 1) leaf = await addTurn(database, id, leaf)
      await expectCurrent(id, leaf)
      const run = await store.runs.findByMessage(id, failed)
      if (run === undefined) throw new Error('the run is stored')
      const elsewhere = createStore(other)
      await other.write(async (tx) => {
        await elsewhere.runs.reopen(tx, run.id, { status: 'running' })
        await elsewhere.steps.store(tx, userId, prose(failed, 1, 'The rest'))
        await elsewhere.messages.update(tx, failed, { text: 'The rest', status: 'completed' })
        await elsewhere.runs.end(tx, run.id, {
          status: 'completed',
          finishReason: 'stop',
          state: { title: 'Resumed' },
          endedAt: new Date(),
        })
      })
      const read = await readAll(store, id, leaf)
      expect(read[1]).toMatchObject({ text: 'The rest', runState: { title: 'Resumed' } })
      expect(read[1]?.steps).toHaveLength(2)
      await expectCurrent(id, leaf)
      expect((await readAll(store, id, leaf))[1]).toBe((await readAll(store, id, leaf))[1])
    })

    test('a run that is completed cannot be resumed, even by a request that saw it fail', async () => {
      const id = await conversation()
      const answer = await addTurn(database, id, null)
      const limited = await addTurn(database, id, answer, {
        status: 'completed',
        finishReason: 'budget',
      })
      const reopen = async (message: MessageId) => {
        const run = await store.runs.findByMessage(id, message)
        if (run === undefined) throw new Error('the run is stored')
        return await database.write((tx) => store.runs.reopen(tx, run.id, { status: 'running' }))
      }
      expect(await reopen(answer)).toBeUndefined()
      expect(await reopen(limited)).toMatchObject({ endedAt: null })
    })

    test('results that a program sends later are seen', async () => {
      const id = await conversation()
      const answer = await addTurn(database, id, null)
      const step = {
        ...prose(answer, 1, '{}'),
        idRef: 'call' as CallId,
        name: 'theirs',
      }
      await database.write((tx) => store.steps.store(tx, userId, { ...step, type: 'tool_call' }))
      let leaf = answer
      for (let at = 0; at < 4; at += 1) leaf = await addTurn(database, id, leaf)
      await expectCurrent(id, leaf)
      await other.write((tx) =>
        createStore(other).steps.store(tx, userId, {
          ...step,
          position: 2,
          content: 'their result',
          type: 'tool_result',
          artifact: { display: 'theirs', untrusted: true },
        }),
      )
      const read = await readAll(store, id, leaf)
      expect(read[1]).toMatchObject({ holdsOutsideText: true })
      expect(read[1]?.steps.at(-1)).toMatchObject({ content: 'their result' })
      await expectCurrent(id, leaf)
    })

    test('summaries and attachments are as they are now', async () => {
      const id = await conversation()
      const question = await say(database, id, 'Look', null, {
        files: [{ name: 'a.txt', extension: 'txt', content: 'text' }],
      })
      let leaf = question
      for (let at = 0; at < 6; at += 1) leaf = await addTurn(database, id, leaf)
      await expectCurrent(id, leaf)
      await other.write(async (tx) => {
        const elsewhere = createStore(other)
        await elsewhere.attachments.setDocument(tx, question, 0, 'a document')
        await elsewhere.summaries.insert(tx, {
          conversationId: id,
          untilMessageId: question,
          text: 'They looked.',
          createdAt: new Date(),
        })
      })
      const [first] = await readAll(store, id, leaf)
      expect(first).toMatchObject({
        summary: 'They looked.',
        attachments: [{ documentId: 'a document' }],
      })
      await expectCurrent(id, leaf)
    })

    test(`whatever happens in two processes, a reading is current (SEED=${SEED})`, async () => {
      for (const { random, what } of rounds(3)) {
        const id = await conversation()
        let leaf = await addTurn(database, id, null)
        const answers = [leaf]
        for (let step = 0; step < 40; step += 1) {
          const writer = random.pick([database, other])
          const done = await act(random, writer, id, leaf, answers)
          if (done !== null) leaf = done
          await expectCurrent(id, leaf, `${what}, step ${step}`)
        }
      }
    })

    /** Changes a conversation in one of the ways in which it can change. Returns the new leaf, if there is one. */
    async function act(
      random: Random,
      writer: Database,
      id: ConversationId,
      leaf: MessageId,
      answers: MessageId[],
    ): Promise<MessageId | null> {
      const own = createStore(writer)
      const existing = random.pick(answers)
      switch (random.below(7)) {
        case 0: {
          await own.messages.setFeedback(id, existing, { rating: 'up' })
          return null
        }
        case 1: {
          const run = await own.runs.findByMessage(id, existing)
          if (run === undefined) return null
          await writer.write(async (tx) => {
            if ((await own.runs.reopen(tx, run.id, { status: 'running' })) === undefined) return
            await own.steps.removeFrom(tx, existing, 0)
            await own.steps.store(tx, userId, prose(existing, 0, `Again ${random.share()}`))
            const status = random.pick(['completed', 'failed'] as const)
            await own.runs.end(tx, run.id, { status, endedAt: new Date() })
          })
          return null
        }
        case 2:
          await writer.write((tx) =>
            own.summaries.insert(tx, {
              conversationId: id,
              untilMessageId: existing,
              text: `Summary ${random.share()}`,
              createdAt: new Date(),
            }),
          )
          return null
        case 3:
          // Another branch is shown.
          return await own.messages.leafUnder(id, existing)
        case 4: {
          // The first one stays, so that there always is a branch.
          const [root = existing] = answers
          if (existing === root) return null
          await writer.write((tx) => own.messages.removeSubtree(tx, id, existing))
          if (random.below(2) === 0)
            await writer.write((tx) => own.messages.restoreSubtree(tx, id, existing))
          for (const answer of [...answers])
            if ((await own.messages.find(id, answer)) === undefined)
              answers.splice(answers.indexOf(answer), 1)
          return await own.messages.leafUnder(id, root)
        }
        default: {
          const end = random.pick([
            { status: 'completed' } as const,
            { status: 'failed' } as const,
            { status: 'completed', finishReason: 'budget' } as const,
          ])
          const turn = await addTurn(writer, id, random.pick([leaf, existing]), end)
          answers.push(turn)
          return turn
        }
      }
    }

    test('a deleted or foreign conversation has no history, whatever is remembered', async () => {
      const id = await conversation()
      const leaf = await addTurn(database, id, null)
      expect(await readAll(store, id, leaf)).toHaveLength(2)
      const foreign = await conversation()
      expect(await readAll(store, foreign, leaf)).toEqual([])
      await other.write((tx) => createStore(other).messages.removeSubtree(tx, id, leaf))
      expect(await readAll(store, id, leaf)).toEqual([])
      await createStore(other).conversations.remove(userId, id)
      const { messages } = database.tables
      const left = await database.read
        .select({ id: messages.id })
        .from(messages)
        .where(and(eq(messages.conversationId, id), eq(messages.id, leaf)))
      expect(left).toEqual([])
      expect(await readAll(store, id, leaf)).toEqual([])
    })
  })
