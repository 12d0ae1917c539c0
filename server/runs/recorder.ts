// Keeps the store equal to what a run's listeners are told: what ends is durable first, then told.

import type { Writer } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import type { NewStep, StepRepository } from '../db/repositories/steps.ts'
import type { ToolCall } from '../llm/client.ts'
import type { RunEvent } from '../protocol/run-event.ts'
import { type Step, stepId } from '../protocol/step.ts'
import type { CallResult } from '../tools/tool-result.ts'
import type { Write, WriteGroup } from './group-commit.ts'
import type { RunChannel } from './log.ts'
import { writeCuts } from './replay.ts'

/** The first text of a step is told at once, what follows at most this often. */
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
  prose(kind: 'thinking' | 'text', text: string): Promise<void> | undefined
  /**
   * Ends the model's round: the open text and the round's calls are stored together with `write`, then told.
   */
  round(calls: readonly ToolCall[], write: Write): Promise<void>
  /** Marks a call as begun, before it may have any effect. */
  begin(call: ToolCall): Promise<void>
  /** Stores a result together with `write`, in whatever order they come. */
  settled(answer: CallResult, write: Write): Promise<void>
  /** Tells a stored result. */
  answer(answer: CallResult): void
  /** Stores what is open and `write`, then tells the last events. `write` is told the id that the last of them will have. */
  end(
    write: (tx: Writer, lastEvent: number) => Promise<void>,
    events: readonly RunEvent[],
  ): Promise<void>
  /** Stores what is open as it is, and `write` with it, and tells nothing: the next start goes on from there. */
  leave(write: Write): Promise<void>
  /** The steps as they stand, with all the text that has come. */
  steps(): Step[]
}

interface Parts {
  channel: RunChannel
  run: Pick<RunRow, 'messageId'>
  /** Index of the first step that this attempt makes (or makes again). */
  nextIndex: number
  /** Calls of earlier rounds that this attempt still has to answer, with the place of their results. */
  openCalls: ReadonlyMap<string, { call: number; result: number }>
  stepRepository: StepRepository
  writes: WriteGroup
  /** Told when text could not be stored in time; the run itself goes on. */
  onLateStore(error: unknown): void
  now(): Date
}

export function createRecorder(parts: Parts): Recorder {
  const { channel, stepRepository, writes } = parts
  const { messageId } = parts.run
  const places = new Map(parts.openCalls)
  let nextIndex = parts.nextIndex
  let open: { index: number; kind: 'thinking' | 'text' } | null = null
  let gathered = ''
  let gatherTimer: NodeJS.Timeout | undefined
  let lastTold = Number.NEGATIVE_INFINITY
  let storeTimer: NodeJS.Timeout | undefined
  /** Ids of result events that were told after their step was stored. */
  let lateIds: { position: number; firstEvent: number }[] = []

  function tell(): void {
    clearTimeout(gatherTimer)
    gatherTimer = undefined
    if (open === null || gathered === '') return
    const text = gathered
    gathered = ''
    lastTold = performance.now()
    channel.appendProse(open.index, open.kind, text)
    if (storeTimer === undefined) storeTimer = setTimeout(storeOpen, untilNextStore())
  }

  function storeOpen(): void {
    storeTimer = undefined
    if (open === null) return
    const { index } = open
    writes.commit((tx) => putProse(tx, index, false)).catch(parts.onLateStore)
  }

  async function putProse(tx: Writer, index: number, closed: boolean): Promise<void> {
    const prose = channel.prose(index)
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

  /** Takes the open step out of the way; the caller stores it with `putProse` and then tells its end. */
  function takeOpen(): number | null {
    tell()
    clearTimeout(storeTimer)
    storeTimer = undefined
    const index = open?.index ?? null
    open = null
    return index
  }

  /** The write that adds the ids of results told since the last one; it may run again with its transaction. */
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
    if (index !== null) channel.closeProse(index)
  }

  function append(kind: 'thinking' | 'text', text: string): void {
    if (open === null) {
      open = { index: nextIndex, kind }
      nextIndex += 1
      gathered = text
      tell()
      return
    }
    gathered += text
    if (gatherTimer !== undefined) return
    const wait = lastTold + GATHER_MS - performance.now()
    // What a provider's stream gathers comes just as often: a timer would only make it later.
    if (wait <= TIMER_SLACK_MS) tell()
    else gatherTimer = setTimeout(tell, wait)
  }

  return {
    prose(kind, text) {
      if (text === '') return undefined
      if (open === null || open.kind === kind) {
        append(kind, text)
        return undefined
      }
      return closeOpen().then(() => append(kind, text))
    },

    async round(calls, write) {
      const proseIndex = takeOpen()
      const base = nextIndex
      nextIndex += calls.length * 2
      // Nothing else is told between here and the calls, so their ids are known beforehand.
      const firstEvent = channel.lastId + (proseIndex === null ? 1 : 2)
      const writeIds = takeLateIds()
      await writes.commit(async (tx) => {
        if (proseIndex !== null) await putProse(tx, proseIndex, true)
        await writeIds(tx)
        for (const [at, call] of calls.entries())
          await stepRepository.put(tx, callRow(messageId, base + at, call, firstEvent + at))
        await write(tx)
      })
      if (proseIndex !== null) channel.closeProse(proseIndex)
      for (const [at, call] of calls.entries()) {
        places.set(call.id, { call: base + at, result: base + calls.length + at })
        channel.appendEvent({
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
        stepRepository.markStarted(tx, messageId, place.call, parts.now()),
      )
    },

    async settled(answer, write) {
      const place = places.get(answer.call.id)
      if (place === undefined) return
      await writes.commit(async (tx) => {
        await stepRepository.put(tx, resultRow(messageId, place.result, answer))
        await write(tx)
      })
    },

    answer(answer) {
      const place = places.get(answer.call.id)
      if (place === undefined) return
      channel.appendEvent({ event: 'process_step', step: resultStep(place.result, answer) })
      lateIds.push({ position: place.result, firstEvent: channel.lastId })
    },

    async end(write, events) {
      tell()
      const last = channel.lastId + (open === null ? 0 : 1) + events.length
      await closeOpen((tx) => write(tx, last))
      for (const event of events) channel.appendEvent(event)
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
      tell()
      return Array.from({ length: channel.stepCount }, (_, index) => channel.step(index)).filter(
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
  answer: CallResult,
): NewStep => ({
  messageId,
  position,
  type: 'tool_result',
  content: answer.content,
  idRef: answer.call.id,
  name: answer.call.name,
  skipped: answer.skipped,
  artifact: answer.artifact ?? null,
  closed: true,
})

const resultStep = (index: number, answer: CallResult): Step => ({
  id: stepId(index),
  index,
  type: 'tool_result',
  id_ref: answer.call.id,
  name: answer.call.name,
  content: answer.content,
  skipped: answer.skipped,
  ...(answer.artifact === undefined ? {} : { artifact: answer.artifact }),
})
