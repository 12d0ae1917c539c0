// Measures the receipt of an answer with 500 steps, on both databases.
import { connect } from '../server/db/connect.ts'
import type { DatabaseSettings } from '../server/db/database.ts'
import { createStore } from '../server/db/store.ts'
import { newId } from '../server/lib/ids.ts'
import type { CallId } from '../server/protocol/ids.ts'
import { createReceipts } from '../server/receipts/receipts.ts'
import { onConnection } from '../tests/support/store/explain.ts'
import { addProject, addUser } from '../tests/support/store/rows.ts'
import { chatRun, say } from '../tests/support/store/store-rows.ts'
import { onBothDatabases } from './postgres.ts'
import { ofRounds, type Row } from './row.ts'

const CALLS = 250
const ROUNDS = 60
const LIMIT_MS = 20
/** Characters of each result, as those of a page or a file have them. */
const RESULT_CHARACTERS = 6_000

const log = { info() {}, warn() {} }

/** Each fifth call reads, writes, runs a command, saves a fact, fails. */
function callAt(index: number): { name: string; arguments: object; result: object } {
  const path = `file-${index}.txt`
  const text = 'A line of text.\n'.repeat(RESULT_CHARACTERS / 16)
  switch (index % 5) {
    case 0:
      return { name: 'file_read', arguments: { path }, result: { success: true, data: { text } } }
    case 1:
      return {
        name: 'file_write',
        arguments: { path, content: text },
        result: { success: true, data: { path } },
      }
    case 2:
      return {
        name: 'exec',
        arguments: { command: `run ${index}` },
        result: { success: true, data: { stdout: text, stderr: '', exit_code: 0 } },
      }
    case 3:
      return {
        name: 'save_memory',
        arguments: { fact: path },
        result: { success: true, data: { saved: true, fact: path } },
      }
    default:
      return {
        name: 'fetch_page',
        arguments: { url: `https://x.example/${index}` },
        result: { success: false, error: text },
      }
  }
}

async function measure(settings: DatabaseSettings): Promise<Row> {
  const database = await connect(settings, { log })
  try {
    const { steps, checkpoints, checkpointFiles } = database.tables
    const store = createStore(database)
    const userId = await addUser(database)
    const projectId = await addProject(database, userId)
    const { id: conversationId } = await store.conversations.create(userId, { title: 'Receipts' })
    const question = await say(database, conversationId, 'Go', null)
    const runId = newId<ReturnType<typeof chatRun>['id']>()
    const messageId = await say(database, conversationId, 'Done.', question, {
      role: 'assistant',
      runId,
    })
    const run = { ...chatRun(userId, conversationId, messageId), id: runId, projectId }
    await database.write((tx) => store.runs.insert(tx, run))
    await database.write(async (tx) => {
      for (let index = 0; index < CALLS; index += 1) {
        const { name, arguments: given, result } = callAt(index)
        const idRef = `call_${index}` as CallId
        const shared = { messageId, name, idRef, skipped: false, closed: true }
        await tx.insert(steps).values([
          { ...shared, position: 2 * index, type: 'tool_call', content: JSON.stringify(given) },
          {
            ...shared,
            position: 2 * index + 1,
            type: 'tool_result',
            content: JSON.stringify(result),
          },
        ])
        if (name !== 'file_write') continue
        const id = newId<string>()
        await tx.insert(checkpoints).values({
          id,
          projectId,
          userId,
          messageId,
          runId,
          tool: name,
          fileCount: 1,
          sample: [],
          createdAt: new Date(),
        })
        const after = { kind: 'file', hash: id, size: 1, mode: 0o600 } as const
        await tx.insert(checkpointFiles).values({
          checkpointId: id,
          first: 0,
          files: [{ path: `file-${index}.txt`, change: 'added', before: null, after }],
        })
      }
    })
    const receipts = createReceipts({
      ledger: store.ledger,
      // As after the end of a run: the lines of all files are counted.
      countLines: async (_owner, files) => files.map(() => ({ added: 1, removed: 0 })),
    })
    const usage = {
      prompt_tokens: 1,
      completion_tokens: 1,
      total_tokens: 2,
      cached_tokens: 0,
      cost: {},
    }
    const receipt = await receipts.atEnd(
      { userId, conversationId, messageId, runId, projectId, usage },
      () => false,
    )
    await database.write((tx) => store.messages.update(tx, messageId, { receipt }))
    await onConnection(settings, 'analyze')
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now()
      const read = await receipts.read({ userId, conversationId, messageId })
      times.push(performance.now() - began)
      if (read?.calls.total !== CALLS || read.files.length !== CALLS / 5)
        throw new Error('The receipt is not that of the answer.')
    }
    const measured = ofRounds(times.slice(ROUNDS / 10))
    return {
      suite: 'store',
      figure: `receipt of an answer with ${2 * CALLS} steps, ${settings.dialect}`,
      target: `≤ ${LIMIT_MS} ms`,
      unit: 'ms',
      ok: measured.value <= LIMIT_MS,
      ...measured,
    }
  } finally {
    await database.close()
  }
}

/** Runs the suite on both databases. */
export const run = (): Promise<Row[]> => onBothDatabases(measure)
