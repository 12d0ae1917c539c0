// Random answers as rows of the tables: calls with their results, calls of sub-agents, requests, changes and deliveries.
import type { Database } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import type { CheckpointFile, PathContent } from '../../../server/db/tables/projects/checkpoints.ts'
import { newId } from '../../../server/lib/ids.ts'
import type {
  ConversationId,
  MessageId,
  ProjectId,
  RunId,
  UserId,
} from '../../../server/protocol/ids.ts'
import type { RequestState } from '../../../server/protocol/runs/approval.ts'
import type { CallOutcome } from '../../../server/protocol/runs/call-outcome.ts'
import type { Random } from '../../support/random.ts'

/** Where an answer is stored. */
export interface Place {
  database: Database
  userId: UserId
  projectId: ProjectId
  channelId: string
}

/** An answer in the store. */
export interface StoredAnswer {
  userId: UserId
  conversationId: ConversationId
  messageId: MessageId
  runId: RunId
}

const PATHS = ['a.txt', './a.txt', 'folder/b.txt', 'c.txt']
const URLS = ['https://example.com', 'https://example.com/', 'https://EXAMPLE.com/x']

/** A call and, unless it was interrupted, what its result says. */
function randomCall(random: Random, deliveries: readonly string[]) {
  const [name, args] = random.pick<[string, object]>([
    ['file_write', { path: random.pick(PATHS), content: 'x' }],
    ['write_file', { path: random.pick(PATHS), content: 'x' }],
    ['file_read', { path: random.pick(PATHS) }],
    ['fetch_page', { url: random.pick(URLS) }],
    ['crawl_batch', { urls: [random.pick(URLS), random.pick(URLS)] }],
    ['exec', { command: random.pick(['make', 'npm test', 'exit 1']) }],
    ['message', { content: 'Done', to: random.pick(['channel:ops', 'channel:other']) }],
    ['message', { content: 'Done' }],
    ['save_memory', { fact: 'A fact' }],
    ['schedule_create', { name: 'Daily', text: 'Look.', when: { every: '1d' } }],
    ['schedule_change', { id: 'schedule 1', enabled: false }],
    [
      'calculator',
      random.pick([
        { expression: '1', a: 1 },
        { a: 1, expression: '1' },
      ]),
    ],
    ['mcp__server__tool', { deep: { list: [1, 2] } }],
  ])
  const success = random.below(3) > 0
  const skipped = random.below(6) === 0
  const data = !skipped && dataOf(random, name, success, deliveries)
  const result = {
    success: success && !skipped,
    ...(data ? { data } : {}),
    ...(success && !skipped
      ? {}
      : { error: `it failed ${'for a reason '.repeat(random.below(40))}` }),
    execution_time: 0.01,
    ...(random.below(10) === 0 && name === 'exec'
      ? { approved_arguments: { command: 'make approved' } }
      : {}),
  }
  return { name, args, skipped, result: random.below(8) === 0 ? null : result }
}

function dataOf(random: Random, name: string, success: boolean, deliveries: readonly string[]) {
  if (name === 'exec' && (success || random.below(2) === 0))
    return { stdout: '', stderr: '', exit_code: random.pick([0, 0, 1, 137, null]) }
  if (name === 'message' && success)
    return random.below(2) === 0
      ? { message_id: newId(), conversation_id: 'x' }
      : { delivery_id: random.pick(deliveries), status: random.pick(['pending', 'delivered']) }
  if (name === 'message') return { delivery_id: random.pick(deliveries), status: 'failed' }
  if (name.startsWith('schedule_'))
    return success && { id: random.pick(['schedule 1', 'schedule 2']), name: 'Daily' }
  if (name === 'save_memory')
    return success && random.pick([{ saved: true, fact: 'A fact' }, { saved: false }])
  return success && { text: 'some text'.repeat(random.below(200)) }
}

/** The same facts as those that the server stores for a call of a sub-agent. */
function outcomeOf({ name, skipped, result }: ReturnType<typeof randomCall>): CallOutcome | null {
  if (result === null) return null
  const { data, error, approved_arguments: approved } = result
  const fields: Record<string, unknown> = data === undefined ? {} : { ...data }
  return {
    success: result.success,
    skipped,
    ...(error === undefined ? {} : { error: error.slice(0, 300) }),
    ...(approved === undefined ? {} : { arguments: approved }),
    ...(name === 'exec' && 'exit_code' in fields ? { exit_code: fields.exit_code as number } : {}),
    ...(name === 'message' && 'delivery_id' in fields
      ? { delivery_id: String(fields.delivery_id), delivery_status: String(fields.status) }
      : {}),
    ...(name === 'message' && 'message_id' in fields
      ? { message_id: String(fields.message_id) }
      : {}),
    ...(name.startsWith('schedule_') && 'id' in fields ? { schedule_id: String(fields.id) } : {}),
    ...(fields.saved === true ? { fact: String(fields.fact) } : {}),
  }
}

const content = (random: Random): PathContent | null =>
  random.below(3) === 0
    ? null
    : { kind: 'file', hash: random.pick(['h1', 'h2', 'h3']), size: 3, mode: 0o600 }

/** Stores an answer with up to `most` calls. */
export async function storeRandomAnswer(
  { database, userId, projectId, channelId }: Place,
  random: Random,
  most: number,
): Promise<StoredAnswer> {
  const t = database.tables
  const { id: conversationId } = await createStore(database).conversations.create(userId, {
    title: 'T',
  })
  const messageId = newId<MessageId>()
  const runId = newId<RunId>()
  const now = new Date()
  const deliveries = Array.from({ length: 3 }, () => newId<string>())
  const hasEnded = random.below(5) > 0
  await database.write(async (tx) => {
    await tx.insert(t.messages).values({
      id: messageId,
      conversationId,
      role: 'assistant',
      text: 'I have done everything.',
      tokenCount: 0,
      runId,
      status: 'completed',
      createdAt: now,
    })
    await tx.insert(t.runs).values({
      id: runId,
      conversationId,
      userId,
      projectId,
      messageId,
      kind: 'chat',
      status: 'completed',
      model: 'm',
      options: {},
      attempt: 1,
      iteration: 1,
      promptTokens: random.below(1_000),
      completionTokens: random.below(1_000),
      cost: { USD: 0.5 },
      lastEvent: 1,
      stopRequested: false,
      stopCause: null,
      createdAt: now,
      endedAt: hasEnded ? now : null,
    })
    // Some deliveries are not stored any more.
    for (const id of deliveries)
      if (random.below(4) > 0)
        await tx.insert(t.deliveries).values({
          id,
          userId,
          channelId,
          content: 'x',
          status: random.pick(['pending', 'delivered', 'failed'] as const),
          attempts: 1,
          createdAt: now,
        })
    let position = 0
    const count = random.below(most + 1)
    for (let number = 0; number < count; number += 1) {
      const isTeam = random.below(8) === 0
      const call = isTeam
        ? { name: 'multi_agent', args: { tasks: [] }, skipped: false, result: { success: true } }
        : randomCall(random, deliveries)
      const idRef = `call_${number}`
      const shared = { messageId, idRef, name: call.name, closed: true, skipped: false }
      await tx.insert(t.steps).values({
        ...shared,
        position: position++,
        type: 'tool_call',
        content: JSON.stringify(call.args),
      })
      if (call.result !== null)
        await tx.insert(t.steps).values({
          ...shared,
          skipped: call.skipped,
          position: position++,
          type: 'tool_result',
          content: JSON.stringify(call.result),
        })
      if (!isTeam) continue
      for (let agent = 0; agent < 2; agent += 1)
        for (let inner = 0; inner < random.below(4); inner += 1) {
          const nested = randomCall(random, deliveries)
          await tx.insert(t.nestedCalls).values({
            runId,
            callId: idRef,
            position: agent,
            idRef: `inner_${inner}`,
            name: nested.name,
            arguments: JSON.stringify(nested.args),
            outcome: outcomeOf(nested),
          })
        }
    }
    const states: RequestState[] = ['pending', 'approved', 'rejected', 'expired', 'void']
    for (let number = 0; number < random.below(5); number += 1)
      await tx.insert(t.approvals).values({
        id: newId(),
        runId,
        idRef: `call_${number}`,
        position: 0,
        name: 'file_write',
        arguments: '{}',
        riskLevel: 'medium',
        status: random.pick(states),
        createdAt: now,
      })
    for (let number = 0; number < random.below(6); number += 1) {
      const id = newId<string>()
      const files: CheckpointFile[] = ['a.txt', 'folder/b.txt', 'c.txt'].flatMap((path) => {
        const [before, after] = [content(random), content(random)]
        return random.below(2) === 0 ? [] : [{ path, change: 'modified', before, after }]
      })
      await tx.insert(t.checkpoints).values({
        id,
        projectId,
        userId,
        messageId,
        runId,
        tool: 'file_write',
        fileCount: files.length,
        sample: [],
        createdAt: now,
      })
      await tx.insert(t.checkpointFiles).values({ checkpointId: id, first: 0, files })
    }
  })
  return { userId, conversationId, messageId, runId }
}
