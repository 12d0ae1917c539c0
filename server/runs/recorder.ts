// Keeps the store equal to what a run's listeners receive: what ends is stored first, then emitted.

import type { Writer } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import type { NewStep, StepRepository } from '../db/repositories/steps.ts'
import type { ToolCall } from '../llm/client.ts'
import type { RunEvent } from '../protocol/run-event.ts'
import { type Step, stepId } from '../protocol/step.ts'
import type { CallResult } from '../tools/tool-result.ts'
import type { Write, WriteGroup } from './group-commit.ts'
import { writeCuts } from './log/history.ts'
import type { RunLog } from './log/log.ts'

/** The first text of a step is emitted at once, what follows at most this often. */
const GATHER_MS = 50
/** Timers are never exact. */
const TIMER_SLACK_MS = 5
/**
 * Text of an open step is stored this often; well within the promised second. All runs store at the same moments, so
 * that one transaction takes the text of all of them: each costs a sync of the disk.
 */
const STORE_MS = 500
const untilNextStore = (): number => STORE_MS - (performance.now() % STORE_MS)

export interface Recorder {
  /** Text from the model. Returns a promise only when a step of the other kind has to be stored as ended first. */
  append(kind: 'thinking' | 'text', text: string): Promise<void> | undefined
  /**
   * Ends the model's part of an iteration: the open text and the calls are stored together with `write`, then emitted.
   */
  endIteration(calls: readonly ToolCall[], write: Write): Promise<void>
  /** Marks a call as begun, before it may have any effect. */
  begin(call: ToolCall): Promise<void>
  /** Stores a result together with `write`, in whatever order they come. */
  storeResult(result: CallResult, write: Write): Promise<void>
  /** Emits a stored result. */
  emitResult(result: CallResult): void
  /** Stores what is open and `write`, then emits the last events. `write` receives the id that the last of them will have. */
  end(
    write: (tx: Writer, lastEvent: number) => Promise<void>,
    events: readonly RunEvent[],
  ): Promise<void>
  /** Stores what is open as it is, and `write` with it, and emits nothing: the next start goes on from there. */
  leave(write: Write): Promise<void>
  /** The steps as they stand, with all the text that has come. */
  steps(): Step[]
}

interface Dependencies {
  runLog: RunLog
  run: Pick<RunRow, 'messageId'>
  /** Index of the first step that this attempt makes (or makes again). */
  nextIndex: number
  /** Calls of earlier iterations that still need a result, with the place of their results. */
  openCalls: ReadonlyMap<string, { call: number; result: number }>
  stepRepository: Pick<StepRepository, 'put' | 'putProse' | 'setFirstEvent' | 'markStarted'>
  writes: WriteGroup
  /** Called when text could not be stored in time; the run itself goes on. */
  onLateStore(error: unknown): void
  now(): Date
}

export function createRecorder(dependencies: Dependencies): Recorder {
  const { runLog, stepRepository, writes } = dependencies
  const { messageId } = dependencies.run
  const places = new Map(dependencies.openCalls)
  let nextIndex = dependencies.nextIndex
  let open: { index: number; kind: 'thinking' | 'text' } | null = null
  let gathered = ''
  let gatherTimer: NodeJS.Timeout | undefined
  let lastEmitted = Number.NEGATIVE_INFINITY
  let storeTimer: NodeJS.Timeout | undefined
  /** Ids of result events that were emitted after their step was stored. */
  let lateIds: { position: number; firstEvent: number }[] = []

  function emit(): void {
    clearTimeout(gatherTimer)
    gatherTimer = undefined
    if (open === null || gathered === '') return
    const text = gathered
    gathered = ''
    lastEmitted = performance.now()
    runLog.appendProse(open.index, open.kind, text)
    if (storeTimer === undefined) storeTimer = setTimeout(storeOpen, untilNextStore())
  }

  function storeOpen(): void {
    storeTimer = undefined
    if (open === null) return
    const { index } = open
    writes.commit((tx) => putProse(tx, index, false)).catch(dependencies.onLateStore)
  }

  async function putProse(tx: Writer, index: number, closed: boolean): Promise<void> {
    const prose = runLog.prose(index)
    if (prose === undefined) return
    await stepRepository.putProse(tx, {
      messageId,
      position: index,
      type: prose.type,
      content: prose.content,
      closed: closed || prose.closed,
      firstEvent: prose.firstEvent,
      cuts: writeCuts(prose),
    })
  }

  /** Takes the open step out of the way; the caller stores it with `putProse` and then emits its end. */
  function takeOpen(): number | null {
    emit()
    clearTimeout(storeTimer)
    storeTimer = undefined
    const index = open?.index ?? null
    open = null
    return index
  }

  /** The write that adds the ids of results emitted since the last one; it may run again with its transaction. */
  function takeLateIds(): Write {
    const ids = lateIds
    lateIds = []
    return async (tx) => {
      for (const { position, firstEvent } of ids)
        await stepRepository.setFirstEvent(tx, messageId, position, firstEvent)
    }
  }

  async function closeOpen(write?: Write): Promise<void> {
    const index = takeOpen()
    if (index === null && write === undefined) return
    const writeIds = takeLateIds()
    await writes.commit(async (tx) => {
      if (index !== null) await putProse(tx, index, true)
      await writeIds(tx)
      await write?.(tx)
    })
    if (index !== null) runLog.closeProse(index)
  }

  function gather(kind: 'thinking' | 'text', text: string): void {
    if (open === null) {
      open = { index: nextIndex, kind }
      nextIndex += 1
      gathered = text
      emit()
      return
    }
    gathered += text
    if (gatherTimer !== undefined) return
    const wait = lastEmitted + GATHER_MS - performance.now()
    // What a provider's stream gathers comes just as often: a timer would only make it later.
    if (wait <= TIMER_SLACK_MS) emit()
    else gatherTimer = setTimeout(emit, wait)
  }

  return {
    append(kind, text) {
      if (text === '') return undefined
      if (open === null || open.kind === kind) {
        gather(kind, text)
        return undefined
      }
      return closeOpen().then(() => gather(kind, text))
    },

    async endIteration(calls, write) {
      const proseIndex = takeOpen()
      const base = nextIndex
      nextIndex += calls.length * 2
      // Nothing else is emitted between here and the calls, so their ids are known beforehand.
      const firstEvent = runLog.lastId + (proseIndex === null ? 1 : 2)
      const writeIds = takeLateIds()
      await writes.commit(async (tx) => {
        if (proseIndex !== null) await putProse(tx, proseIndex, true)
        await writeIds(tx)
        for (const [at, call] of calls.entries())
          await stepRepository.put(tx, callRow(messageId, base + at, call, firstEvent + at))
        await write(tx)
      })
      if (proseIndex !== null) runLog.closeProse(proseIndex)
      for (const [at, call] of calls.entries()) {
        places.set(call.id, { call: base + at, result: base + calls.length + at })
        runLog.appendEvent({
          event: 'process_step',
          step: {
            id: stepId(base + at),
            index: base + at,
            type: 'tool_call',
            id_ref: call.id,
            name: call.name,
            arguments: call.arguments,
          },
        })
      }
    },

    async begin(call) {
      const place = places.get(call.id)
      if (place === undefined) return
      await writes.commit((tx) =>
        stepRepository.markStarted(tx, messageId, place.call, dependencies.now()),
      )
    },

    async storeResult(result, write) {
      const place = places.get(result.call.id)
      if (place === undefined) return
      await writes.commit(async (tx) => {
        await stepRepository.put(tx, resultRow(messageId, place.result, result))
        await write(tx)
      })
    },

    emitResult(result) {
      const place = places.get(result.call.id)
      if (place === undefined) return
      runLog.appendEvent({ event: 'process_step', step: resultStep(place.result, result) })
      lateIds.push({ position: place.result, firstEvent: runLog.lastId })
    },

    async end(write, events) {
      emit()
      const last = runLog.lastId + (open === null ? 0 : 1) + events.length
      await closeOpen((tx) => write(tx, last))
      for (const event of events) runLog.appendEvent(event)
    },

    async leave(write) {
      const index = takeOpen()
      const writeIds = takeLateIds()
      await writes.commit(async (tx) => {
        if (index !== null) await putProse(tx, index, false)
        await writeIds(tx)
        await write(tx)
      })
    },

    steps() {
      emit()
      return Array.from({ length: runLog.stepCount }, (_, index) => runLog.step(index)).filter(
        (step) => step !== undefined,
      )
    },
  }
}

const callRow = (
  messageId: RunRow['messageId'],
  position: number,
  call: ToolCall,
  firstEvent: number,
): NewStep => ({
  messageId,
  position,
  type: 'tool_call',
  content: call.arguments,
  idRef: call.id,
  name: call.name,
  skipped: false,
  closed: true,
  firstEvent,
})

const resultRow = (
  messageId: RunRow['messageId'],
  position: number,
  result: CallResult,
): NewStep => ({
  messageId,
  position,
  type: 'tool_result',
  content: result.content,
  idRef: result.call.id,
  name: result.call.name,
  skipped: result.skipped,
  artifact: result.artifact ?? null,
  closed: true,
})

const resultStep = (index: number, result: CallResult): Step => ({
  id: stepId(index),
  index,
  type: 'tool_result',
  id_ref: result.call.id,
  name: result.call.name,
  content: result.content,
  skipped: result.skipped,
  ...(result.artifact === undefined ? {} : { artifact: result.artifact }),
})
