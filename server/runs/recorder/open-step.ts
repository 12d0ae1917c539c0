// The thinking or text step that a model is writing: gathers its text, emits it, and stores it while it grows.
import type { Writer } from '../../db/database.ts'
import type { StepRepository } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { StoreMoments, WriteGroup } from '../group-commit.ts'
import { createCutsWriter } from '../log/history.ts'
import type { ProseState, RunLog } from '../log/log.ts'

/** The first text of a step is emitted at once, further text at most this often. */
const GATHER_MS = 50
/** Timers are not exact, and the ticks at which the provider's client reads do not wait for one that was late. */
const TIMER_SLACK_MS = 20

type ProseKind = ProseState['type']

/** The thinking or text that the model is writing. */
export interface OpenStep {
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

interface Dependencies {
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
export function createOpenStep({
  runLog,
  run,
  stepRepository,
  writes,
  storeMoments,
  onLateStore,
  onStored,
}: Dependencies): OpenStep {
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
