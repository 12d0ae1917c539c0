// Where the sub-agents of a run leave what they have done: durable together with the tokens it took, each booked once.
import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import type { SubAgentRepository } from '../db/repositories/sub-agents.ts'
import { CallId, type RunId } from '../protocol/ids.ts'
import type { Usage } from '../protocol/run-event.ts'
import type { Bookkeeping } from './bookkeeping.ts'
import { SubAgentEvent } from './sub-agent-log.ts'
import type { WriteGroup } from './write-group.ts'

/** Tokens of one answer; `model` is the one that gave it, '' for the run's own. */
export interface Spent {
  usage: Usage
  model: string
}

export interface SubAgentJournal {
  /** What the sub-agents of a call had done when the process ended; empty for a call that begins. */
  read(callId: CallId): Promise<{ position: number; event: SubAgentEvent }[]>
  /**
   * Resolves when the event is durable, and with it what its model has used for it: a round is booked when it is stored,
   * and asked for again when it is not. While the process goes away nothing more is stored.
   */
  write(
    callId: CallId,
    position: number,
    event: SubAgentEvent,
    spent: readonly Spent[],
  ): Promise<void>
}

interface Parts {
  runId: RunId
  repository: SubAgentRepository
  books: Pick<Bookkeeping, 'add' | 'takeWrite'>
  writes: WriteGroup
  /** The process goes away: what is cut off now is no event, the next start makes it again. */
  isLeaving(): boolean
}

/** As the run itself sees it. */
export interface RunJournal extends SubAgentJournal {
  /** Whether this attempt of the run had sub-agents. */
  readonly isUsed: boolean
  /** The run comes to its end: what sub-agents that were broken off still write is left out. */
  close(): Promise<void>
}

export function createSubAgentJournal(parts: Parts): RunJournal {
  const { runId, repository, books, writes, isLeaving } = parts
  // One at a time: a booking holds the run's sums, and an older one must not come behind a newer.
  const inTurn = pLimit(1)
  let isUsed = false
  let isClosed = false
  return {
    get isUsed() {
      return isUsed
    },
    close() {
      isClosed = true
      return inTurn(async () => {})
    },
    async read(callId) {
      isUsed = true
      const rows = await repository.list(runId, callId)
      return rows.map(({ position, event }) => ({ position, event: SubAgentEvent.parse(event) }))
    },
    write: (callId, position, event, spent) =>
      inTurn(async () => {
        if (isClosed || isLeaving()) return
        for (const { usage, model } of spent) books.add(usage, model)
        const book = await books.takeWrite(false)
        await writes.commit(async (tx) => {
          await repository.append(tx, { runId, callId, position, event })
          await book(tx)
        })
      }),
  }
}

/** Longer names of calls are shortened to a digest, as ids are bounded. */
const LONGEST_PARENT = 150

/** The beginning that the ids of all calls within one call of the run's own have in common. */
export const nestedPrefix = (callId: string): string =>
  `${callId.length <= LONGEST_PARENT ? callId : createHash('sha256').update(callId).digest('hex')}~`

/**
 * Under which id a person decides on a sub-agent's call: the same after a restart, and never that of another call, as
 * models give the same ids again and again.
 */
export const nestedCallId = (callId: string, position: number, number: number): CallId =>
  CallId.parse(`${nestedPrefix(callId)}${position + 1}.${number + 1}`)
