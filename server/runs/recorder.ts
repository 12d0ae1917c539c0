// Keeps the store equal to what listeners receive: anything that is complete is stored first, then emitted.

import type { Writer } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import type { NewStep, StepRepository } from '../db/repositories/steps.ts'
import type { Carry } from '../llm/carry.ts'
import type { ToolCall } from '../llm/client.ts'
import type { RunEvent } from '../protocol/run-event.ts'
import { type Step, stepId } from '../protocol/step.ts'
import type { CallResult } from '../tools/tool-result.ts'
import type { Write, WriteGroup } from './group-commit.ts'
import { writeCuts } from './log/history.ts'
import type { RunLog } from './log/log.ts'

/** The first text of a step is emitted at once, further text at most this often. */
const GATHER_MS = 50
/** Timers are not exact. */
const TIMER_SLACK_MS = 5
/**
 * The text of an open step is stored this often, well within the promised second. All runs store at the same moments, so
 * that they share one transaction and one disk sync.
 */
const STORE_MS = 500
const untilNextStore = (): number => STORE_MS - (performance.now() % STORE_MS)

export interface Recorder {
  /** Adds text from the model. Returns a promise only when an open step of the other kind has to be stored first. */
  append(kind: 'thinking' | 'text', text: string): Promise<void> | undefined
  /**
   * Ends the model call of an iteration: stores the open text and the calls together with `write`, then emits them.
   * `carry` is stored with the first call and never emitted.
   */
  endIteration(calls: readonly ToolCall[], write: Write, carry?: Carry): Promise<void>
  /** Marks a call as begun, before it can have any effect. */
  begin(call: ToolCall): Promise<void>
  /** Stores a result together with `write`, in any order. */
  storeResult(result: CallResult, write: Write): Promise<void>
  /** Emits a stored result. */
  emitResult(result: CallResult): void
  /** Stores the open text together with `write`, then emits `events`. `write` gets the id that the last event will have. */
  end(
    write: (tx: Writer, lastEvent: number) => Promise<void>,
    events: readonly RunEvent[],
  ): Promise<void>
  /** Stores the open text as unfinished, together with `write`, and emits nothing: the next attempt continues from there. */
  suspend(write: Write): Promise<void>
  /** The current steps, including all text received so far. */
  steps(): Step[]
}

interface Dependencies {
  runLog: RunLog
  run: Pick<RunRow, 'messageId'>
  /** Index of the first step that this attempt writes or rewrites. */
  nextIndex: number
  /** Calls of earlier attempts that still need a result, with the indexes of both steps. */
  openCalls: ReadonlyMap<string, { call: number; result: number }>
  stepRepository: Pick<StepRepository, 'put' | 'putProse' | 'setFirstEvent' | 'markStarted'>
  writes: WriteGroup
  /** Called when text could not be stored in time. The run continues. */
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

  /** Detaches the open step and returns its index. The caller stores it with `putProse`, then emits its end. */
  function takeOpen(): number | null {
    emit()
    clearTimeout(storeTimer)
    storeTimer = undefined
    const index = open?.index ?? null
    open = null
    return index
  }

  /** Returns a write that stores the event ids of the results emitted since the last call. Safe to run more than once. */
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
    // The provider client gathers at the same interval, so a timer would only add delay.
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

    async endIteration(calls, write, carry) {
      const proseIndex = takeOpen()
      const base = nextIndex
      nextIndex += calls.length * 2
      // Nothing else is emitted before the calls, so their event ids are known in advance.
      const firstEvent = runLog.lastId + (proseIndex === null ? 1 : 2)
      const writeIds = takeLateIds()
      await writes.commit(async (tx) => {
        if (proseIndex !== null) await putProse(tx, proseIndex, true)
        await writeIds(tx)
        for (const [at, call] of calls.entries())
          await stepRepository.put(tx, {
            ...callRow(messageId, base + at, call, firstEvent + at),
            carry: at === 0 ? (carry ?? null) : null,
          })
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

    async suspend(write) {
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
