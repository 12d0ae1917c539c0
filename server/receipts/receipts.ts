// Receipts of answers: read from the store, and computed once more when a run ends.
import type { LedgerRepository } from '../db/repositories/runs/ledger.ts'
import { nestedCallId } from '../lib/nested-call-id.ts'
import { createTurns } from '../lib/turns.ts'
import type { ConversationId, MessageId, ProjectId, RunId, UserId } from '../protocol/ids.ts'
import { outcomeOf } from '../protocol/runs/call-outcome.ts'
import {
  type CountedFile,
  countsOf,
  hasChanged,
  MAX_RECEIPT_FILES,
  type Receipt,
  type ReceiptFile,
  type StoredReceipt,
} from '../protocol/runs/receipt.ts'
import { type Usage, usageOfRun } from '../protocol/runs/usage.ts'
import {
  countKey,
  foldReceipt,
  hashOf,
  type Ledger,
  type LedgerCall,
  type NetChange,
  netChanges,
} from './fold-receipt.ts'

/** A message of a conversation of a user. The caller has checked that the conversation is theirs. */
export interface AnswerOf {
  userId: UserId
  conversationId: ConversationId
  messageId: MessageId
}

/** A run that is about to end. */
export interface EndingRun extends AnswerOf {
  runId: RunId
  projectId: ProjectId | null
  usage: Usage
}

/** Computes receipts. */
export interface Receipts {
  /** The receipt of an answer, as of now; undefined if the conversation has no such answer. */
  read(answer: AnswerOf): Promise<Receipt | undefined>
  /**
   * What to store with an answer whose run ends.
   * @param isHarmless whether a tool has risk level low, by its name or alias.
   */
  atEnd(run: EndingRun, isHarmless: (name: string) => boolean): Promise<StoredReceipt>
}

/** What receipts depend on. */
export interface ReceiptDependencies {
  ledger: LedgerRepository
  /** Counts the lines of changed files of a project; null where they cannot be counted. */
  countLines(
    owner: { userId: UserId; projectId: ProjectId },
    files: readonly { path: string; before: string | null; after: string | null }[],
  ): Promise<{ added: number | null; removed: number | null }[]>
}

type StoredAnswer = NonNullable<Awaited<ReturnType<LedgerRepository['answer']>>>

/** How often the words of one answer may have been changed for its receipt to be found. */
const MAX_EDITS = 1_000

/** Create one per server. */
export function createReceipts(dependencies: ReceiptDependencies): Receipts {
  return {
    read: (answer) => read(dependencies, answer),

    atEnd: (run, isHarmless) => atEnd(dependencies, run, isHarmless),
  }
}

/** What the tables say, without the lines of files. */
async function readLedger(
  dependencies: ReceiptDependencies,
  { userId, conversationId, messageId }: AnswerOf,
  runId: RunId | null,
): Promise<Omit<Ledger, 'hasEnded' | 'plan' | 'citations' | 'usage' | 'counted'>> {
  const [calls, requests, changes, grants] = await Promise.all([
    readCalls(dependencies, messageId, runId),
    runId === null ? [] : dependencies.ledger.requests(runId),
    dependencies.ledger.changes(messageId),
    runId === null ? [] : dependencies.ledger.grantsUsed(runId),
  ])
  const ids = calls.flatMap(({ outcome }) =>
    outcome?.delivery_id === undefined ? [] : [outcome.delivery_id],
  )
  const deliveries = await dependencies.ledger.deliveries(userId, ids)
  return { calls, requests, changes, deliveries, grants, conversationId }
}

async function readCalls(
  dependencies: ReceiptDependencies,
  messageId: MessageId,
  runId: RunId | null,
): Promise<LedgerCall[]> {
  const [rows, nested] = await Promise.all([
    dependencies.ledger.steps(messageId),
    runId === null ? [] : dependencies.ledger.nestedCalls(runId),
  ])
  const results = new Map(
    rows.flatMap((row) => (row.type === 'tool_result' ? [[row.idRef, row] as const] : [])),
  )
  const turn = createTurns()
  const calls: LedgerCall[] = []
  for (const { type, idRef, name, content, grantId } of rows) {
    if (type !== 'tool_call') continue
    const result = results.get(idRef)
    calls.push({
      idRef,
      name,
      arguments: content,
      grantId,
      outcome: result === undefined ? null : outcomeOf(result),
    })
    await turn()
    const numbers = new Map<number, number>()
    for (const call of nested) {
      if (call.callId !== idRef) continue
      const number = numbers.get(call.position) ?? 0
      numbers.set(call.position, number + 1)
      calls.push({ ...call, idRef: nestedCallId(idRef, call.position, number) })
    }
  }
  return calls
}

/** The lines of changed files: those that were counted before, else counted now. */
async function countChanges(
  dependencies: ReceiptDependencies,
  userId: UserId,
  projectId: ProjectId | null,
  changes: readonly NetChange[],
  known: readonly CountedFile[],
): Promise<CountedFile[]> {
  const states = changes.map(({ path, before, after }) => ({
    path,
    before: hashOf(before),
    after: hashOf(after),
  }))
  const counted = new Set(known.map(countKey))
  const unknown = states.filter((file) => !counted.has(countKey(file)))
  if (unknown.length === 0 || projectId === null) return [...known]
  const counts = await dependencies.countLines({ userId, projectId }, unknown)
  return [
    ...known,
    ...unknown.map((file, index) => ({
      ...file,
      added: counts[index]?.added ?? null,
      removed: counts[index]?.removed ?? null,
    })),
  ]
}

/**
 * A person has changed the words of an answer; what it did is what the first one did. An import may name answers that were
 * edited into each other.
 */
async function originalOf(
  dependencies: ReceiptDependencies,
  { conversationId, messageId }: AnswerOf,
  asked: StoredAnswer,
): Promise<{ messageId: MessageId; found: StoredAnswer }> {
  const seen = new Set([messageId])
  let original = { messageId, found: asked }
  while (seen.size <= MAX_EDITS) {
    const { runId, receipt, editedFrom } = original.found
    if (runId !== null || receipt?.copy !== undefined || editedFrom === null) break
    if (seen.has(editedFrom)) break
    const found = await dependencies.ledger.answer(conversationId, editedFrom)
    if (found === undefined) break
    seen.add(editedFrom)
    original = { messageId: editedFrom, found }
  }
  return original
}

async function read(
  dependencies: ReceiptDependencies,
  answer: AnswerOf,
): Promise<Receipt | undefined> {
  const asked = await dependencies.ledger.answer(answer.conversationId, answer.messageId)
  if (asked === undefined) return undefined
  const { messageId, found } = await originalOf(dependencies, answer, asked)
  if (found.receipt?.copy !== undefined) return found.receipt.copy
  const stored = await readLedger(dependencies, { ...answer, messageId }, found.runId)
  const counted = await countChanges(
    dependencies,
    answer.userId,
    found.projectId,
    netChanges(stored.changes),
    found.receipt?.counted ?? [],
  )
  const receipt = foldReceipt({
    ...stored,
    hasEnded: found.endedAt !== null,
    plan: found.plan?.items ?? [],
    citations: found.citations ?? [],
    usage: found.runId === null || found.usage === null ? null : usageOfRun(found.usage),
    counted,
  })
  const files = withRemembered(receipt.files, found.receipt?.files ?? [], stored.changes)
  return { ...receipt, files }
}

async function atEnd(
  dependencies: ReceiptDependencies,
  run: EndingRun,
  isHarmless: (name: string) => boolean,
): Promise<StoredReceipt> {
  const [stored, found] = await Promise.all([
    readLedger(dependencies, run, run.runId),
    dependencies.ledger.answer(run.conversationId, run.messageId),
  ])
  const counted = await countChanges(
    dependencies,
    run.userId,
    run.projectId,
    netChanges(stored.changes),
    found?.receipt?.counted ?? [],
  )
  const receipt = foldReceipt({
    ...stored,
    hasEnded: true,
    plan: found?.plan?.items ?? [],
    citations: found?.citations ?? [],
    usage: run.usage,
    counted,
  })
  return {
    summary: {
      ...countsOf(receipt),
      acted: stored.requests.length > 0 || stored.calls.some(({ name }) => !isHarmless(name)),
      changed: hasChanged(receipt),
    },
    files: receipt.files,
    counted,
  }
}

/** Adds the files whose checkpoints have been removed since: they can no longer be undone. */
function withRemembered(
  files: readonly ReceiptFile[],
  remembered: readonly ReceiptFile[],
  changes: Ledger['changes'],
): ReceiptFile[] {
  const known = new Set(changes.map(({ checkpointId }) => checkpointId))
  const present = new Set(files.map(({ path }) => path))
  const gone = remembered.filter(
    ({ path, checkpoint_id: id }) => id !== null && !known.has(id) && !present.has(path),
  )
  const kept = gone.map((file) => ({ ...file, checkpoint_id: null }))
  return [...files, ...kept].slice(0, MAX_RECEIPT_FILES)
}
