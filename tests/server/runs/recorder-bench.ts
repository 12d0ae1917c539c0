import type { Writer } from '../../../server/db/database.ts'
import type { NewStep, ProseRow } from '../../../server/db/repositories/steps.ts'
import type { ToolCall } from '../../../server/llm/client.ts'
import { MessageId } from '../../../server/protocol/ids.ts'
import type { DoneEvent } from '../../../server/protocol/run-event.ts'
import type { Write, WriteGroup } from '../../../server/runs/group-commit.ts'
import { createRunLog, type LogEntry, type RunLog } from '../../../server/runs/log/log.ts'
import { createRecorder, type Recorder } from '../../../server/runs/recorder.ts'
import type { CallResult } from '../../../server/tools/tool-result.ts'

type Row = { type: string; content: string; closed: boolean; firstEvent: number | null }
type Change = (rows: Map<number, Row>) => void

/** A write that belongs to another one and stores nothing. */
export const nothing: Write = async () => {}

/** A recorder over a store in memory. */
export interface RecorderBench {
  recorder: Recorder
  log: RunLog
  /** The committed steps by position. */
  rows: Map<number, Row>
  /** Commits and events in the order in which they happened. */
  trace: string[]
  /** What the next transaction fails with. */
  fail(error: Error): void
}

const inShort = (entry: LogEntry): string => {
  if (entry.kind === 'delta') return `text ${entry.index}`
  if (entry.kind === 'whole') return `end ${entry.index}`
  if (entry.kind === 'void') return 'void'
  const { event } = entry
  return event.event === 'process_step' ? `${event.step.type} ${event.step.index}` : event.event
}

/** @param onEmit called with each entry of the log, when it is emitted */
export function createRecorderBench(
  more: { nextIndex?: number; openCalls?: Map<string, { call: number; result: number }> } = {},
  onEmit: (entry: LogEntry) => void = () => {},
): RecorderBench {
  const rows = new Map<number, Row>()
  const trace: string[] = []
  const faults: Error[] = []
  let open: Change[] = []
  const add = (name: string, change: Change): Promise<void> => {
    open.push(change)
    trace.push(name)
    return Promise.resolve()
  }
  const set =
    ({ position, type, content, closed, firstEvent }: NewStep | ProseRow): Change =>
    (all) =>
      all.set(position, {
        type,
        content: content ?? '',
        closed: closed ?? false,
        firstEvent: firstEvent ?? null,
      })
  const writes: WriteGroup = {
    async commit(write) {
      open = []
      const before = trace.length
      // No write of these tests looks into its transaction.
      await write({} as Writer)
      const names = trace.splice(before)
      const fault = faults.shift()
      if (fault !== undefined) throw fault
      for (const change of open) change(rows)
      trace.push(`store ${names.join(' + ')}`)
    },
  }
  const log = createRunLog({ entries: [], steps: [], lastId: 0 })
  let seen = 0
  log.subscribe({
    onEntries() {
      for (const entry of log.entries.slice(seen)) {
        trace.push(inShort(entry))
        onEmit(entry)
      }
      seen = log.entries.length
    },
    onClose() {},
  })
  const recorder = createRecorder({
    runLog: log,
    run: { messageId: MessageId.parse('message') },
    nextIndex: more.nextIndex ?? 0,
    openCalls: more.openCalls ?? new Map(),
    stepRepository: {
      putProse: (_tx, step) => add(`${step.type} ${step.position}`, set(step)),
      put: (_tx, step) => add(`${step.type} ${step.position}`, set(step)),
      markStarted: (_tx, _message, position) => add(`begin ${position}`, () => {}),
      setFirstEvent: (_tx, _message, position, firstEvent) =>
        add(`id ${position}`, (all) => {
          const row = all.get(position)
          if (row !== undefined) row.firstEvent = firstEvent
        }),
    },
    writes,
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
})

export const done: DoneEvent = {
  event: 'done',
  message_id: MessageId.parse('message'),
  token_count: 3,
  suggested_title: null,
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  finish_reason: 'stop',
}
