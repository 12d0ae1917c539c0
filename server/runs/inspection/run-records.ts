// Records what runs exchange with providers and when they commit. Gathers in memory and stores a moment later.

import type { RunRecordRepository, RunRecordRow } from '../../db/repositories/runs/run-records.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { createTurns } from '../../lib/turns.ts'
import type { ProviderExchange } from '../../llm/exchange.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { StoredEvent } from '../../protocol/runs/run-record.ts'
import { createPacker, type RecordPiece } from './pieces.ts'
import {
  createFreshParts,
  createKnownParts,
  type FreshParts,
  type KnownParts,
} from './prompt-parts.ts'

/** How long exchanges are gathered before they are stored. */
const GATHER_MS = 2_000
/** Attempts whose records are stored in one transaction. */
const ATTEMPTS_AT_ONCE = 32
/** Parts per transaction. */
const PARTS_AT_ONCE = 128
/**
 * Maximum number of model calls, with the text of their prompts, that wait to be stored. Further calls are not recorded.
 */
const MAX_WAITING_CALLS = 2_000
/** Attempts to store records while other instances store or remove parts of the same conversations. */
const MAX_ATTEMPTS = 5
/** Maximum number of recorded commits per piece. */
const MAX_STORED_EVENTS = 500

/** Reports what one attempt does. No method waits or fails. */
export interface AttemptRecord {
  /** Records a model call that has ended. @param number its one-based position among the run's model calls. */
  addCall(number: number, exchanges: readonly ProviderExchange[]): void
  /** Records a committed transaction of the run. @param idRef the tool call that it was for. */
  addStored(what: StoredEvent['what'], idRef?: string): void
  /** Ends the record of the attempt. */
  end(): void
}

/** Records what runs exchange with providers, for the inspector. */
export interface RunRecords {
  /** Begins the record of an attempt. */
  begin(run: RunRow): AttemptRecord
  /** Stores what has been gathered for a run, so that it can be read. */
  flush(id: RunId): Promise<void>
  /** Days until records are removed; 0 if nothing is recorded. */
  readonly keepDays: number
  /** Stores everything. Call it when no run is active. */
  close(): Promise<void>
}

interface Dependencies {
  repository: Pick<RunRecordRepository, 'recordable' | 'knownParts' | 'store'>
  keepDays: number
  /** Identifies this process. */
  instance: string
  /** Removes all secrets that this server knows. */
  redact(text: string): string
  log: { warn(details: object, message: string): void }
  now(): Date
}

interface Gathered {
  run: Pick<RunRow, 'id' | 'conversationId' | 'attempt'>
  calls: { number: number; exchanges: readonly ProviderExchange[] }[]
  stored: StoredEvent[]
  since: number
  /** The number of the next record. */
  number: number
  isOver: boolean
}

const NOTHING: AttemptRecord = { addCall() {}, addStored() {}, end() {} }

/** Create one per process. */
export function createRunRecords(dependencies: Dependencies): RunRecords {
  const { keepDays, instance, log, now } = dependencies
  const storage = { ...dependencies, known: createKnownParts(dependencies.repository) }
  const attempts = new Set<Gathered>()
  let waitingCalls = 0
  let timer: NodeJS.Timeout | undefined
  /** Records are stored one at a time. */
  let storing = Promise.resolve()

  const isEmpty = ({ calls, stored }: Gathered): boolean => calls.length + stored.length === 0

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      const due = performance.now() - GATHER_MS
      void storeAll(({ isOver, since }) => isOver || since <= due)
    }, GATHER_MS).unref()
  }

  /** Stores what the matching attempts have gathered. Never rejects. */
  function storeAll(matches: (attempt: Gathered) => boolean): Promise<void> {
    const due = [...attempts].filter(matches)
    const taken = due.filter((attempt) => !isEmpty(attempt)).map(take)
    for (const attempt of due) if (attempt.isOver) attempts.delete(attempt)
    if ([...attempts].some((attempt) => !isEmpty(attempt))) schedule()
    for (let at = 0; at < taken.length; at += ATTEMPTS_AT_ONCE) {
      const some = taken.slice(at, at + ATTEMPTS_AT_ONCE)
      storing = storing.then(() => storeSafely(some, storage))
    }
    return storing
  }

  function take(attempt: Gathered): Gathered {
    const taken = { ...attempt }
    waitingCalls -= attempt.calls.length
    attempt.calls = []
    attempt.stored = []
    attempt.number += 1
    return taken
  }

  function begin({ id, conversationId, attempt }: RunRow): AttemptRecord {
    const run = { id, conversationId, attempt }
    const own: Gathered = { run, calls: [], stored: [], since: 0, number: 0, isOver: false }
    attempts.add(own)
    const beforeAdding = (): void => {
      if (isEmpty(own)) own.since = performance.now()
      schedule()
    }
    return {
      addCall(number, exchanges) {
        if (exchanges.length === 0) return
        if (waitingCalls >= MAX_WAITING_CALLS) {
          log.warn({ run_id: run.id }, 'too many concurrent model calls: one is not recorded')
          return
        }
        beforeAdding()
        waitingCalls += 1
        own.calls.push({ number, exchanges })
      },
      addStored(what, idRef) {
        beforeAdding()
        const at = now().toISOString()
        const last = own.stored.at(-1)
        if (what === 'text' && last?.what === 'text') {
          last.count = (last.count ?? 1) + 1
          last.last_at = at
        } else if (own.stored.length < MAX_STORED_EVENTS) {
          const call = idRef === undefined ? {} : { id_ref: idRef }
          own.stored.push({ what, at, ...call, attempt, instance })
        }
      },
      end() {
        own.isOver = true
        if (isEmpty(own)) attempts.delete(own)
      },
    }
  }

  return {
    keepDays,
    begin: keepDays === 0 ? () => NOTHING : begin,
    flush: (id) => storeAll(({ run }) => run.id === id),
    async close() {
      clearTimeout(timer)
      await storeAll(() => true)
      clearTimeout(timer)
    },
  }
}

type Storing = Pick<Dependencies, 'repository' | 'redact' | 'now' | 'log'> & { known: KnownParts }

/** Stores records. If that fails, they are lost and the log says so; nothing else depends on them. */
async function storeSafely(some: readonly Gathered[], storing: Storing): Promise<void> {
  try {
    await store(some, storing)
  } catch (error) {
    // One of the records may belong to a conversation that was just deleted.
    if (some.length > 1) for (const one of some) await storeSafely([one], storing)
    else storing.log.warn({ err: error, run_id: some[0]?.run.id }, 'a run is not recorded')
  }
}

/** Stores what these attempts have gathered. Retries if parts of their prompts were removed in the meantime. */
async function store(all: readonly Gathered[], storing: Storing): Promise<void> {
  const recordable = await storing.repository.recordable(all.map(({ run }) => run.id))
  const some = all.filter(({ run }) => recordable.has(run.id))
  if (some.length === 0) return
  for (let attempt = 1; !(await storeRecordable(some, storing)); attempt++)
    if (attempt === MAX_ATTEMPTS) throw new Error('the parts of prompts change all the time')
}

/** @returns false if nothing was stored because the remembered parts are no longer stored. */
async function storeRecordable(
  some: readonly Gathered[],
  { repository, redact, now, known }: Storing,
): Promise<boolean> {
  const stored = await known.of(some.map(({ run }) => run.conversationId))
  const counts = new Map([...stored].map(([id, { count }]) => [id, count]))
  const parts = createFreshParts(stored, redact)
  const records = await packRecords(some, parts, { redact, now })
  const rows = await parts.rows()
  // Store the records first: parts that no record refers to may be removed at any time.
  if (!(await repository.store(records, rows.slice(0, PARTS_AT_ONCE), counts))) return false
  for (let from = PARTS_AT_ONCE; from < rows.length; from += PARTS_AT_ONCE)
    await repository.store([], rows.slice(from, from + PARTS_AT_ONCE), new Map())
  known.remember(stored)
  return true
}

async function packRecords(
  some: readonly Gathered[],
  parts: FreshParts,
  { redact, now }: Pick<Storing, 'redact' | 'now'>,
): Promise<RunRecordRow[]> {
  const turn = createTurns()
  const records: RunRecordRow[] = []
  for (const { run, calls, stored, number } of some) {
    const pack = createPacker(parts.takeFor(run.conversationId), redact)
    const piece: RecordPiece = { calls: [], stored }
    for (const call of calls) {
      const exchanges: RecordPiece['calls'][number]['exchanges'] = []
      for (const exchange of call.exchanges) {
        exchanges.push(pack(exchange))
        await turn()
      }
      piece.calls.push({ number: call.number, exchanges })
    }
    const { id: runId, attempt } = run
    records.push({ runId, attempt, number, createdAt: now(), record: piece })
  }
  return records
}
