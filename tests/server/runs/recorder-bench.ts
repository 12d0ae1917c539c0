// Test bench for the recorder: an in-memory store that traces commits and events, and fails on demand.
import type { LoopEvent } from '../../../server/agent/loop.ts'
import type { Writer } from '../../../server/db/database.ts'
import type {
  NewStep,
  ProseRow,
  StepRow,
} from '../../../server/db/repositories/conversations/steps.ts'
import type { ToolCall } from '../../../server/llm/client.ts'
import { MessageId, RunId, UserId } from '../../../server/protocol/ids.ts'
import type { DoneEvent } from '../../../server/protocol/runs/run-event.ts'
import {
  createStoreMoments,
  type Write,
  type WriteGroup,
} from '../../../server/runs/group-commit.ts'
import { createRunLog, type LogEntry, type RunLog } from '../../../server/runs/log/log.ts'
import { createRecorder, type Recorder } from '../../../server/runs/recorder.ts'
import type { CallResult } from '../../../server/tools/tool-result.ts'

type Change = (rows: Map<number, StepRow>) => void

/** A write that stores nothing, to accompany another one. */
export const nothing: Write = async () => {}

/** A recorder with an in-memory store. */
export interface RecorderBench {
  recorder: Recorder
  log: RunLog
  /** The committed steps, by position. */
  rows: Map<number, StepRow>
  /** Commits and events in the order in which they happened. */
  trace: string[]
  /** Makes the next transaction fail with this error. */
  fail(error: Error): void
}

const inShort = (entry: LogEntry): string => {
  if (entry.kind === 'delta') return `text ${entry.index}`
  if (entry.kind === 'whole') return `end ${entry.index}`
  if (entry.kind === 'void') return 'void'
  const { event } = entry
  return event.event === 'process_step' ? `${event.step.type} ${event.step.index}` : event.event
}

interface BenchOptions {
  /** The steps that are already stored. */
  rows?: readonly StepRow[]
  nextIndex?: number
  openCalls?: Map<string, { call: number; result: number }>
  /** Called with each entry of the run log when it is emitted. */
  onEmit?: (entry: LogEntry) => void
  /** Called after each commit with everything stored so far. */
  onCommit?: (rows: readonly StepRow[]) => void
}

/** The row in which a step is stored. */
const rowOf = (step: Omit<NewStep, 'skipped'> & { skipped?: boolean }): StepRow => ({
  messageId: step.messageId,
  position: step.position,
  type: step.type,
  content: step.content ?? '',
  origin: step.origin ?? null,
  grantId: step.grantId ?? null,
  idRef: step.idRef ?? null,
  name: step.name ?? null,
  skipped: step.skipped ?? false,
  artifact: step.artifact ?? null,
  closed: step.closed ?? false,
  firstEvent: step.firstEvent ?? null,
  cuts: step.cuts ?? null,
  startedAt: step.startedAt ?? null,
  durationMs: step.durationMs ?? null,
})

export function createRecorderBench({
  onEmit = () => {},
  onCommit = () => {},
  ...more
}: BenchOptions = {}): RecorderBench {
  const rows = new Map((more.rows ?? []).map((row) => [row.position, { ...row }]))
  const trace: string[] = []
  const faults: Error[] = []
  let open: Change[] = []
  const add = (name: string, change: Change): Promise<void> => {
    open.push(change)
    trace.push(name)
    return Promise.resolve()
  }
  const set =
    (step: NewStep | ProseRow): Change =>
    (all) =>
      all.set(step.position, rowOf(step))
  const writes: WriteGroup = {
    async commit(write) {
      open = []
      const before = trace.length
      // The writes of these tests do not use the transaction.
      await write({} as Writer)
      const names = trace.splice(before)
      const fault = faults.shift()
      if (fault !== undefined) throw fault
      for (const change of open) change(rows)
      trace.push(`store ${names.join(' + ')}`)
      onCommit([...rows.values()].map((row) => ({ ...row })))
    },
  }
  const log = createRunLog({ entries: [], steps: [], lastId: 0 })
  let seen = 0
  log.subscribe({
    onEntries() {
      for (const entry of [...log.entries].slice(seen)) {
        trace.push(inShort(entry))
        onEmit(entry)
      }
      seen = log.entries.length
    },
    onClose() {},
  })
  const recorder = createRecorder({
    runLog: log,
    run: {
      id: RunId.parse('run'),
      attempt: 1,
      messageId: MessageId.parse('message'),
      userId: UserId.parse('user'),
    },
    nextIndex: more.nextIndex ?? 0,
    openCalls: more.openCalls ?? new Map(),
    stepRepository: {
      storeProse: (_tx, _user, step) => add(`${step.type} ${step.position}`, set(step)),
      storeOf: (_run, _tx, _user, step) => add(`${step.type} ${step.position}`, set(step)),
      markStarted: (_tx, _message, position, mark) =>
        add(`begin ${position}`, (all) => {
          const row = all.get(position)
          if (row !== undefined) Object.assign(row, mark)
        }),
      setFirstEvent: (_tx, _message, position, firstEvent) =>
        add(`id ${position}`, (all) => {
          const row = all.get(position)
          if (row !== undefined) row.firstEvent = firstEvent
        }),
    },
    writes,
    storeMoments: createStoreMoments(),
    onLateStore(error) {
      throw error
    },
    now: () => new Date(),
  })
  return { recorder, log, rows, trace, fail: (error) => faults.push(error) }
}

export const resultOf = (call: ToolCall): CallResult => ({
  call,
  content: `{"success":true,"data":"${call.id}"}`,
  skipped: false,
  success: true,
  untrusted: false,
  ran: { durationMs: 0, reused: false },
})

export const done: DoneEvent = {
  event: 'done',
  message_id: MessageId.parse('message'),
  token_count: 3,
  suggested_title: null,
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, cached_tokens: 0, cost: {} },
  finish_reason: 'stop',
}

/** Passes each event of the loop to the recorder, as a run's worker does. */
export async function record(loop: AsyncIterable<LoopEvent>, recorder: Recorder): Promise<void> {
  for await (const event of loop) {
    if (event.type === 'result') recorder.emitResult(event.result)
    if (event.type !== 'iteration') continue
    if (event.finish === null) await recorder.endIteration(event.calls, nothing)
    else await recorder.end(async () => {}, [done])
  }
}
