// Keeps the store equal to what listeners receive: anything that is complete is stored first, then emitted; text that is still
// arriving is emitted first.
import type { Writer } from '../db/database.ts'
import { inParallel } from '../db/fragments.ts'
import type { NewStep, StepRepository } from '../db/repositories/conversations/steps.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Carry } from '../llm/carry.ts'
import type { ToolCall } from '../llm/client.ts'
import type { ProseSink } from '../llm/prose.ts'
import type { RunEvent } from '../protocol/runs/run-event.ts'
import type { StoredEvent } from '../protocol/runs/run-record.ts'
import { type Step, stepId } from '../protocol/runs/step.ts'
import type { CallResult } from '../tools/tool-result.ts'
import type { StoreMoments, Write, WriteGroup } from './group-commit.ts'
import { createCutsWriter } from './log/history.ts'
import type { ProseState, RunLog } from './log/log.ts'

/**
 * Stores what a run does, then emits it. Prose waits only for an open step of the other kind, which has to be stored first. A text
 * that was thinking becomes a thinking step in its place.
 */
export interface Recorder extends ProseSink {
  /**
   * Ends the model call of an iteration: stores the open text and the calls together with `write`, then emits them.
   * `carry` is stored with the first call and never emitted.
   */
  endIteration(calls: readonly ToolCall[], write: Write, carry?: Carry): Promise<void>
  /**
   * Marks a call as begun, before it can have any effect. `granted`: a grant lets it through; `use` counts that in the same
   * transaction, and is false if the grant no longer holds: then nothing is stored. Returns whether the call may run.
   */
  begin(call: Pick<ToolCall, 'id'>, granted?: GrantedCall): Promise<boolean>
  /** Returns the write that removes the mark, for a call that waits for a person and may run again after a restart. */
  notBegun(callId: string): Write
  /** Stores a result together with `write`. Results may be stored in any order. */
  storeResult(result: CallResult, write: Write): Promise<void>
  /** Emits a stored result. */
  emitResult(result: CallResult): void
  /**
   * Stores the open text together with `write`, then emits `events`. `write` receives the id that the last event will have.
   */
  end(
    write: (tx: Writer, lastEvent: number) => Promise<void>,
    events: readonly RunEvent[],
  ): Promise<void>
  /** Stores the open text as unfinished, together with `write`, and emits nothing: the next attempt continues from there. */
  suspend(write: Write): Promise<void>
  /** The current steps, including all text received so far. */
  steps(): Step[]
}

/** A grant that covers a call. */
export interface GrantedCall {
  grantId: string
  use(tx: Writer): Promise<boolean>
}

interface Dependencies {
  runLog: RunLog
  run: Pick<RunRow, 'id' | 'attempt' | 'messageId' | 'userId'>
  /** Index of the first step that this attempt writes or rewrites. */
  nextIndex: number
  /** The text step of an earlier attempt that the next text continues, and what separates the two; null if there is none. */
  continued?: { index: number; separator: string } | null
  /** Calls of earlier attempts that still need a result, with the indexes of both steps. */
  openCalls: ReadonlyMap<string, { call: number; result: number }>
  stepRepository: Pick<StepRepository, 'storeOf' | 'storeProse' | 'setFirstEvent' | 'markStarted'>
  writes: WriteGroup
  storeMoments: StoreMoments
  /**
   * Whether the event ids of results are stored as soon as they are emitted, for instances that follow the run from the
   * store.
   */
  storesIdsAtOnce?: boolean
  /** Called when text could not be stored in time. The run continues. */
  onLateStore(error: unknown): void
  /** Called after each commit. @param idRef the tool call that it was for. */
  onStored?(what: StoredEvent['what'], idRef?: string): void
  now(): Date
}

/** Create one per attempt. It continues the steps of earlier attempts. */
export function createRecorder(dependencies: Dependencies): Recorder {
  const { runLog, stepRepository, writes } = dependencies
  const { run } = dependencies
  const { messageId, userId } = run
  /** The indexes of both steps of each call that has no result yet. */
  const indexes = new Map(dependencies.openCalls)
  let nextIndex = dependencies.nextIndex
  const openStep = createOpenStep({
    runLog,
    run,
    stepRepository,
    writes,
    storeMoments: dependencies.storeMoments,
    onLateStore: dependencies.onLateStore,
    onStored: () => dependencies.onStored?.('text'),
  })

  async function commit(write: Write, what: StoredEvent['what'], idRef?: string): Promise<void> {
    await writes.commit(write)
    dependencies.onStored?.(what, idRef)
  }

  /** Ids of result events that were emitted after their step was stored. */
  let lateIds: { position: number; firstEvent: number }[] = []

  /** Returns a write that stores the event ids of the results emitted since the last call. Safe to run more than once. */
  function writeOfLateIds(): Write {
    const ids = lateIds
    lateIds = []
    return async (tx) => {
      for (const { position, firstEvent } of ids)
        await stepRepository.setFirstEvent(tx, messageId, position, firstEvent, run)
    }
  }

  async function closeOpen(what: StoredEvent['what'], write?: Write): Promise<void> {
    const index = openStep.take()
    if (index === null && write === undefined) return
    const writeIds = writeOfLateIds()
    await commit(
      (tx) =>
        inParallel(
          ...(index === null ? [] : [() => openStep.store(tx, index, true)]),
          () => writeIds(tx),
          ...(write === undefined ? [] : [() => write(tx)]),
        ),
      what,
    )
    if (index !== null) runLog.closeProse(index)
  }

  /** Emits the call again, with the grant that lets it through. */
  function emitGrant(index: number, grantId: string): void {
    const shown = runLog.step(index)
    if (shown?.type !== 'tool_call' || shown.grant_id === grantId) return
    emitLate(index, { ...shown, grant_id: grantId })
  }

  /** Emits a step that is stored without the id of this event, which is stored later. */
  function emitLate(index: number, step: Step): void {
    runLog.appendEvent({ event: 'process_step', step })
    lateIds.push({ position: index, firstEvent: runLog.lastId })
    if (dependencies.storesIdsAtOnce)
      writes.commit(writeOfLateIds()).catch(dependencies.onLateStore)
  }

  const assignIndex = (): number => {
    nextIndex += 1
    return nextIndex - 1
  }

  let continued = dependencies.continued ?? null

  function appendTo(kind: 'thinking' | 'text', text: string): void {
    if (kind === 'thinking' || continued === null) {
      openStep.append(kind, text, assignIndex)
      return
    }
    const { index, separator } = continued
    continued = null
    runLog.continueProse(index)
    openStep.append(kind, separator + text, () => index)
  }

  return {
    append(kind, text) {
      if (text === '') return undefined
      const openKind = openStep.kind()
      if (openKind === null || openKind === kind) {
        appendTo(kind, text)
        return undefined
      }
      return closeOpen('text').then(() => appendTo(kind, text))
    },

    textWasThinking() {
      openStep.becomeThinking()
      return undefined
    },

    async endIteration(calls, write, carry) {
      // A text after calls does not belong to the one before them.
      if (calls.length > 0) continued = null
      const proseIndex = openStep.take()
      const base = nextIndex
      nextIndex += calls.length * 2
      // Nothing else is emitted before the calls, so their event ids are known in advance.
      const firstEvent = runLog.lastId + (proseIndex === null ? 1 : 2)
      const writeIds = writeOfLateIds()
      await commit(
        (tx) =>
          inParallel(
            ...(proseIndex === null ? [] : [() => openStep.store(tx, proseIndex, true)]),
            () => writeIds(tx),
            ...calls.map(
              (call, at) => () =>
                stepRepository.storeOf(run, tx, userId, {
                  ...callRow(messageId, base + at, call, firstEvent + at),
                  carry: at === 0 ? (carry ?? null) : null,
                }),
            ),
            () => write(tx),
          ),
        'model_call',
      )
      if (proseIndex !== null) runLog.closeProse(proseIndex)
      for (const [at, call] of calls.entries()) {
        indexes.set(call.id, { call: base + at, result: base + calls.length + at })
        runLog.appendEvent({ event: 'process_step', step: callStep(base + at, call) })
      }
    },

    async begin(call, granted) {
      const found = indexes.get(call.id)
      if (found === undefined) {
        if (granted === undefined) return true
        // It would be asked about and refused again, without end.
        throw new Error('A call that a grant lets through has no step.')
      }
      let mayRun = true
      const startedAt = dependencies.now()
      const markIn = (tx: Writer, mark: { startedAt: Date | null; grantId?: string | null }) =>
        stepRepository.markStarted(tx, messageId, found.call, mark, run)
      await commit(
        async (tx) => {
          if (granted === undefined) return await markIn(tx, { startedAt })
          // Together, because the call waits for both.
          await inParallel(
            async () => {
              mayRun = await granted.use(tx)
            },
            () => markIn(tx, { startedAt, grantId: granted.grantId }),
          )
          if (!mayRun) await markIn(tx, { startedAt: null, grantId: null })
        },
        'call_begun',
        call.id,
      )
      if (mayRun && granted !== undefined) emitGrant(found.call, granted.grantId)
      return mayRun
    },

    notBegun(callId) {
      const found = indexes.get(callId)
      return async (tx) => {
        if (found !== undefined)
          await stepRepository.markStarted(tx, messageId, found.call, { startedAt: null }, run)
      }
    },

    async storeResult(result, write) {
      const found = indexes.get(result.call.id)
      if (found === undefined) return
      await commit(
        async (tx) => {
          const row = resultRow(messageId, found.result, result)
          await inParallel(
            () => stepRepository.storeOf(run, tx, userId, row),
            () => write(tx),
          )
        },
        'result',
        result.call.id,
      )
    },

    emitResult(result) {
      const found = indexes.get(result.call.id)
      if (found === undefined) return
      emitLate(found.result, resultStep(found.result, result))
    },

    async end(write, events) {
      openStep.emit()
      const last = runLog.lastId + (openStep.kind() === null ? 0 : 1) + events.length
      await closeOpen('end', (tx) => write(tx, last))
      for (const event of events) runLog.appendEvent(event)
    },

    async suspend(write) {
      const index = openStep.take()
      const writeIds = writeOfLateIds()
      await commit(async (tx) => {
        if (index !== null) await openStep.store(tx, index, false)
        await writeIds(tx)
        await write(tx)
      }, 'suspended')
    },

    steps() {
      openStep.emit()
      return Array.from({ length: runLog.stepCount }, (_, index) => runLog.step(index)).filter(
        (step) => step !== undefined,
      )
    },
  }
}

type MessageId = RunRow['messageId']

/** @param firstEvent the id of the event that will emit the call. */
const callRow = (
  messageId: MessageId,
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

/** A tool call as a step. */
const callStep = (index: number, call: ToolCall): Step => ({
  id: stepId(index),
  index,
  type: 'tool_call',
  id_ref: call.id,
  name: call.name,
  arguments: call.arguments,
})

/** The row has no event id: results are stored before their order of emission is known. */
const resultRow = (messageId: MessageId, position: number, result: CallResult): NewStep => ({
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

/** A tool result as a step. */
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

// The thinking or text step that a model is writing: gathers its text, emits it, and stores it while it grows.

/** The first text of a step is emitted at once, further text at most this often. */
const GATHER_MS = 50
/** Timers are not exact, and the ticks at which the provider's client reads do not wait for one that was late. */
const TIMER_SLACK_MS = 20

type ProseKind = ProseState['type']

/** The thinking or text that the model is writing. */
interface OpenStep {
  /** The kind of the step that is open; null when none is. */
  kind(): ProseKind | null
  /** Adds text to the open step, or opens one of this kind at the index that `assignIndex` returns. */
  append(kind: ProseKind, text: string, assignIndex: () => number): void
  /** Emits the text gathered so far. */
  emit(): void
  /** Makes an open text step a thinking step; listeners replace it. */
  becomeThinking(): void
  /** Emits everything and detaches the step. Returns its index, null when none is open. The caller stores and closes it. */
  take(): number | null
  /** Stores the text of a step as emitted so far. */
  store(tx: Writer, index: number, isClosed: boolean): Promise<void>
}

interface OpenStepDependencies {
  runLog: RunLog
  run: Pick<RunRow, 'id' | 'attempt' | 'messageId' | 'userId'>
  stepRepository: Pick<StepRepository, 'storeProse'>
  writes: WriteGroup
  storeMoments: StoreMoments
  /** Called when text could not be stored in time. The run continues. */
  onLateStore(error: unknown): void
  /** Called when growing text was stored. */
  onStored?(): void
}

/** One per attempt: at most one step is open at a time. */
function createOpenStep({
  runLog,
  run,
  stepRepository,
  writes,
  storeMoments,
  onLateStore,
  onStored,
}: OpenStepDependencies): OpenStep {
  const writeCuts = createCutsWriter()
  let open: { index: number; kind: ProseKind; since: number } | null = null
  let gathered = ''
  let gatherTimer: NodeJS.Timeout | undefined
  let lastEmitted = Number.NEGATIVE_INFINITY
  let cancelStore: (() => void) | undefined

  function emit(): void {
    clearTimeout(gatherTimer)
    gatherTimer = undefined
    if (open === null || gathered === '') return
    const text = gathered
    gathered = ''
    lastEmitted = performance.now()
    runLog.appendProse(open.index, open.kind, text)
    cancelStore ??= storeMoments.next(storeOpen)
  }

  function storeOpen(): void {
    cancelStore = undefined
    if (open === null) return
    const { index } = open
    writes
      .commit((tx) => store(tx, index, false))
      .then(onStored)
      .catch(onLateStore)
  }

  async function store(tx: Writer, index: number, isClosed: boolean): Promise<void> {
    const prose = runLog.prose(index)
    if (prose === undefined) return
    const row = {
      messageId: run.messageId,
      position: index,
      type: prose.type,
      content: prose.content,
      // What an earlier attempt had written stays if this one dies: the next attempt continues it, too.
      closed: isClosed || prose.closed || prose.isContinued === true,
      firstEvent: prose.firstEvent,
      cuts: writeCuts(prose),
      durationMs: isClosed || prose.closed ? prose.durationMs : null,
    }
    await stepRepository.storeProse(tx, run.userId, row, run)
  }

  return {
    kind: () => open?.kind ?? null,
    append(kind, text, assignIndex) {
      if (open === null) {
        open = { index: assignIndex(), kind, since: performance.now() }
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
    },
    emit,
    becomeThinking() {
      // A continued answer began as text, which stays that.
      if (open?.kind !== 'text' || runLog.prose(open.index)?.isContinued === true) return
      emit()
      open.kind = 'thinking'
      runLog.becomeThinking(open.index)
      cancelStore ??= storeMoments.next(storeOpen)
    },
    take() {
      emit()
      cancelStore?.()
      cancelStore = undefined
      if (open === null) return null
      const { index, kind, since } = open
      open = null
      if (kind === 'thinking') {
        const prose = runLog.prose(index)
        if (prose !== undefined) prose.durationMs = Math.round(performance.now() - since)
      }
      return index
    },
    store,
  }
}
