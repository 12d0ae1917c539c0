// Receipts of random answers against another fold, written from the specification and reading the tables itself.
import { and, asc, eq } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import { newId } from '../../../server/lib/ids.ts'
import { MAX_RECEIPT_FILES, Receipt } from '../../../server/protocol/runs/receipt.ts'
import { createReceipts } from '../../../server/receipts/receipts.ts'
import { exportJson } from '../../../server/sharing/export-json.ts'
import { randomFrom, rounds, SEED } from '../../support/random.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { addProject, addUser } from '../../support/store/rows.ts'
import { type Place, type StoredAnswer, storeRandomAnswer } from './random-answers.ts'

const ROUNDS = process.env.FAULTS === 'full' ? 300 : 60

type Fields = Record<string, unknown>
type Seen = { id: string; name: string; args: Fields; result: Fields | null; skipped: boolean }

const ALIASES: Record<string, string> = { write_file: 'file_write' }
const READING =
  /^(mcp__|web_search$|fetch_page$|crawl_batch$|search_knowledge$|result_read$|file_read$)/

/** JSON with sorted keys. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )

function target({ name, args }: Seen): string {
  if (typeof args.path === 'string') return args.path.replace(/^\.\//, '')
  if (typeof args.url === 'string') return new URL(args.url).href
  if (Array.isArray(args.urls)) return sorted(args.urls.map((url) => new URL(url).href).toSorted())
  if (typeof args.to === 'string') return args.to
  if (typeof args.command === 'string') return args.command
  return name === 'message' ? '' : sorted(args)
}

async function everyCall(database: Database, { messageId, runId }: StoredAnswer): Promise<Seen[]> {
  const { steps, nestedCalls } = database.tables
  const rows = await database.read
    .select()
    .from(steps)
    .where(eq(steps.messageId, messageId))
    .orderBy(asc(steps.position))
  const calls: Seen[] = []
  for (const row of rows) {
    if (row.type !== 'tool_call') continue
    const found = rows.find(({ type, idRef }) => type === 'tool_result' && idRef === row.idRef)
    const result: Fields | null = found === undefined ? null : JSON.parse(found.content)
    const args = result?.approved_arguments ?? JSON.parse(row.content)
    const id = row.idRef ?? ''
    calls.push({ id, name: row.name ?? '', args, result, skipped: found?.skipped ?? false })
    for (let agent = 0; agent < 2; agent += 1) {
      const inner = await database.read
        .select()
        .from(nestedCalls)
        .where(
          and(
            eq(nestedCalls.runId, runId),
            eq(nestedCalls.callId, id),
            eq(nestedCalls.position, agent),
          ),
        )
        .orderBy(asc(nestedCalls.id))
      for (const [number, nested] of inner.entries()) {
        const { outcome } = nested
        calls.push({
          id: `${id}~${agent + 1}.${number + 1}`,
          name: nested.name,
          args: outcome?.arguments ?? JSON.parse(nested.arguments),
          skipped: outcome?.skipped ?? false,
          result:
            outcome === null
              ? null
              : {
                  success: outcome.success,
                  error: outcome.error,
                  data: {
                    ...outcome,
                    status: outcome.delivery_status,
                    saved: outcome.fact !== undefined,
                    id: outcome.schedule_id,
                  },
                },
        })
      }
    }
  }
  return calls.map((call) => ({ ...call, name: ALIASES[call.name] ?? call.name }))
}

/** The receipt as the specification says it. */
async function expected(database: Database, answer: StoredAnswer) {
  const { approvals, checkpoints, checkpointFiles, deliveries, runs } = database.tables
  const calls = await everyCall(database, answer)
  const [run] = await database.read.select().from(runs).where(eq(runs.id, answer.runId))
  const asked = await database.read
    .select()
    .from(approvals)
    .where(eq(approvals.runId, answer.runId))
  const changes = await database.read
    .select()
    .from(checkpoints)
    .innerJoin(checkpointFiles, eq(checkpointFiles.checkpointId, checkpoints.id))
    .where(eq(checkpoints.messageId, answer.messageId))
    .orderBy(asc(checkpoints.id))
  const outbox = new Map(
    (await database.read.select().from(deliveries)).map(({ id, status }) => [id, status]),
  )
  const dataOf = ({ result, skipped }: Seen): Fields =>
    skipped ? {} : ((result?.data as Fields | undefined) ?? {})
  const failed = calls.filter(({ result, skipped }) => result?.success === false && !skipped)
  const paths = [
    ...new Set(changes.flatMap(({ checkpoint_files: { files } }) => files.map(({ path }) => path))),
  ]
  return {
    calls: {
      total: calls.length,
      failed: failed.length,
      rejected: asked.filter(({ status }) => status === 'rejected').length,
      expired: asked.filter(({ status }) => status === 'expired').length,
      parked: asked.filter(
        ({ status }) => status === 'void' || (status === 'pending' && run?.endedAt !== null),
      ).length,
    },
    files: paths.flatMap((path) => {
      const of = changes.flatMap(({ checkpoints: { id }, checkpoint_files: { files } }) =>
        files.filter((file) => file.path === path).map((file) => ({ ...file, id })),
      )
      const before = of[0]?.before ?? null
      const after = of.at(-1)?.after ?? null
      if (sorted(before) === sorted(after)) return []
      const change = before === null ? 'added' : after === null ? 'deleted' : 'modified'
      return [{ path, change, added: null, removed: null, checkpoint_id: of[0]?.id }]
    }),
    commands: calls.flatMap((call) =>
      call.name === 'exec' && 'exit_code' in dataOf(call)
        ? [{ command: call.args.command, exit_code: dataOf(call).exit_code, id_ref: call.id }]
        : [],
    ),
    sent: calls.flatMap((call) => {
      const { message_id: message, delivery_id: delivery, status } = dataOf(call)
      if (call.name !== 'message' || (message ?? delivery) === undefined) return []
      const now = message === undefined ? (outbox.get(String(delivery)) ?? status) : 'delivered'
      return [
        {
          to: call.args.to ?? answer.conversationId,
          delivered: now === 'delivered' ? true : now === 'failed' ? false : null,
        },
      ]
    }),
    remembered: calls.flatMap((call) => (dataOf(call).saved === true ? ['A fact'] : [])),
    scheduled: [
      ...new Set(
        calls.flatMap((call) =>
          call.name.startsWith('schedule_') &&
          call.result?.success === true &&
          typeof dataOf(call).id === 'string'
            ? [dataOf(call).id]
            : [],
        ),
      ),
    ],
    sources: {
      read: calls.filter(
        ({ name, result, skipped }) => result?.success === true && !skipped && READING.test(name),
      ).length,
      cited: 0,
    },
    unfinished: [],
    unresolved: failed
      .filter(
        (call) =>
          !calls
            .slice(calls.indexOf(call) + 1)
            .some(
              (later) =>
                later.result?.success === true &&
                later.name === call.name &&
                target(later) === target(call),
            ),
      )
      .map(({ id, name, result }) => ({
        id_ref: id,
        name,
        error: String(result?.error).slice(0, 300),
      })),
    grants_used: [],
    usage: {
      prompt_tokens: run?.promptTokens,
      completion_tokens: run?.completionTokens,
      total_tokens: (run?.promptTokens ?? 0) + (run?.completionTokens ?? 0),
      cached_tokens: 0,
      cost: run?.cost,
    },
  }
}

describeOnEachDatabase('the receipt of an answer', (open) => {
  let place: Place
  beforeAll(async () => {
    const database = await open()
    const userId = await addUser(database)
    const channelId = newId<string>()
    await database.write(async (tx) => {
      await tx.insert(database.tables.channels).values({
        id: channelId,
        userId,
        type: 'webhook',
        name: 'ops',
        sealedSettings: '',
        createdAt: new Date(),
      })
    })
    place = { database, userId, projectId: await addProject(database, userId), channelId }
  })

  test(`is what the tables say, whatever the answer says (seed ${SEED})`, async () => {
    const { database } = place
    const { ledger } = createStore(database)
    const receipts = createReceipts({
      ledger,
      countLines: async (_owner, files) => files.map(() => ({ added: null, removed: null })),
    })
    for (const { random, what } of rounds(ROUNDS)) {
      const answer = await storeRandomAnswer(place, random, 25)
      const receipt = await receipts.read(answer)
      expect(receipt, what).toEqual(await expected(database, answer))
      const { messages } = database.tables
      await database.write(async (tx) => {
        await tx
          .update(messages)
          .set({ text: 'I did nothing and nothing failed.' })
          .where(eq(messages.id, answer.messageId))
      })
      expect(await receipts.read(answer), what).toEqual(receipt)
    }
  }, 120_000)

  const unknownLines = async (_owner: object, files: readonly object[]) =>
    files.map(() => ({ added: null, removed: null }))

  /** Adds checkpoints to an answer. @param pages paths of added files; each page follows the one before. */
  async function addCheckpoints({ messageId }: StoredAnswer, all: readonly string[][][]) {
    const { database, userId, projectId } = place
    const { checkpoints, checkpointFiles } = database.tables
    await database.write(async (tx) => {
      for (const pages of all) {
        const id = newId<string>()
        const shared = { userId, projectId, messageId, tool: 'exec', createdAt: new Date() }
        const fileCount = pages.flat().length
        await tx.insert(checkpoints).values({ ...shared, id, fileCount, sample: [] })
        let first = 0
        for (const page of pages) {
          const files = page.map((path) => ({
            path,
            change: 'added' as const,
            before: null,
            after: { kind: 'file' as const, hash: path, size: 1, mode: 0o600 },
          }))
          await tx.insert(checkpointFiles).values({ checkpointId: id, first, files })
          first += page.length
        }
      }
    })
  }

  test('lists the files of all its changes in order, however many changes there are', async () => {
    const { ledger } = createStore(place.database)
    const answer = await storeRandomAnswer(place, randomFrom(SEED), 0)
    const before = (await ledger.changes(answer.messageId)).map(({ path }) => path)
    const paths = Array.from({ length: 90 }, (_, number) => `new-${number}`)
    await addCheckpoints(
      answer,
      Array.from({ length: 45 }, (_, number) => [[`new-${2 * number}`], [`new-${2 * number + 1}`]]),
    )
    const changes = await ledger.changes(answer.messageId)
    expect(changes.map(({ path }) => path)).toEqual([...before, ...paths])
  })

  test('lists a limited number of files, in a short time', async () => {
    const { ledger } = createStore(place.database)
    const answer = await storeRandomAnswer(place, randomFrom(SEED), 0)
    const page = (from: number) => Array.from({ length: 250 }, (_, number) => `f-${from + number}`)
    await addCheckpoints(
      answer,
      Array.from({ length: 42 }, (_, number) => [page(500 * number), page(500 * number + 250)]),
    )
    expect(await ledger.changes(answer.messageId)).toHaveLength(20_000)
    const receipts = createReceipts({ ledger, countLines: unknownLines })
    expect((await receipts.read(answer))?.files).toHaveLength(MAX_RECEIPT_FILES)
  })

  test('is stored in full, and a message is read with its numbers alone', async () => {
    const { database, userId } = place
    const store = createStore(database)
    const answer = await storeRandomAnswer(place, randomFrom(SEED), 5)
    const { ledger } = store
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, cached_tokens: 0 }
    const receipt = await createReceipts({ ledger, countLines: unknownLines }).atEnd(
      { ...answer, userId, projectId: null, usage: { ...usage, cost: {} } },
      () => false,
    )
    await database.write((tx) => store.messages.update(tx, answer.messageId, { receipt }))
    const message = await store.messages.get(answer.conversationId, answer.messageId)
    expect(message.receipt).toEqual(receipt.summary)
    expect((await ledger.answer(answer.conversationId, answer.messageId))?.receipt).toEqual(receipt)
  })

  test('says in an export whether it could do harm only where that is stored', async () => {
    const { database, userId } = place
    const store = createStore(database)
    const receipts = createReceipts({ ledger: store.ledger, countLines: unknownLines })
    const attachments = { find: async () => undefined }
    const acted: unknown[] = []
    for (const { random } of rounds(20)) {
      const answer = await storeRandomAnswer(place, random, 5)
      const exported = async () => {
        const conversation = await store.conversations.find(userId, answer.conversationId)
        if (conversation === undefined) throw new Error('the conversation is gone')
        let json = ''
        for await (const piece of exportJson({ ...store, attachments }, receipts, conversation))
          json += piece
        return JSON.parse(json).messages[0]
      }
      if ((await exported()).receipt === undefined) continue
      acted.push('acted' in (await exported()))
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, cached_tokens: 0 }
      const receipt = await receipts.atEnd(
        { ...answer, projectId: null, usage: { ...usage, cost: {} } },
        () => false,
      )
      await database.write((tx) => store.messages.update(tx, answer.messageId, { receipt }))
      acted.push((await exported()).acted)
    }
    expect(new Set(acted)).toEqual(new Set([false, true]))
    expect(acted.filter((_, index) => index % 2 === 0)).not.toContain(true)
  })
})

test('an imported receipt has a limited number of files', () => {
  const file = { path: 'a', change: 'added', added: 1, removed: 0, checkpoint_id: null }
  const files = (count: number) => Receipt.shape.files.safeParse(Array(count).fill(file)).success
  expect([files(MAX_RECEIPT_FILES), files(MAX_RECEIPT_FILES + 1)]).toEqual([true, false])
})
