// What a listener receives of a run, whatever event it starts from.
import { describe, expect, test } from 'vitest'
import type { StepRow } from '../../../../server/db/repositories/conversations/steps.ts'
import type {
  CallId,
  ConversationId,
  MessageId,
  RunId,
  UserId,
} from '../../../../server/protocol/ids.ts'
import { applyRunEvent } from '../../../../server/protocol/runs/apply-run-event.ts'
import type { RunEvent } from '../../../../server/protocol/runs/run-event.ts'
import type { Step } from '../../../../server/protocol/runs/step.ts'
import { createRunLog, idsBefore, type RunLog } from '../../../../server/runs/log/log.ts'
import { createRunView, type OutgoingEvent } from '../../../../server/runs/log/view.ts'
import { createMirror, type Mirror } from '../../../../server/runs/shared/mirror.ts'
import { chatRun } from '../../../support/store/store-rows.ts'

const runId = 'run' as RunId
const messageId = 'answer' as MessageId

function newChannel(): RunLog {
  const runLog = createRunLog({ entries: [], steps: [], lastId: 0 })
  runLog.appendEvent({
    event: 'run',
    run_id: runId,
    user_message_id: null,
    message_id: messageId,
  })
  return runLog
}

/** Emits a small run: thinking, text, a call with its result, text, the terminal event. */
function playRun(runLog: RunLog): void {
  for (const piece of ['Let ', 'me ', 'see.']) runLog.appendProse(0, 'thinking', piece)
  runLog.closeProse(0)
  for (const piece of ['I ask ', 'the clock.']) runLog.appendProse(1, 'text', piece)
  runLog.closeProse(1)
  const call = { id_ref: 'call_1' as CallId, name: 'get_current_time' }
  runLog.appendEvent({
    event: 'process_step',
    step: { id: 'step-2', index: 2, type: 'tool_call', ...call, arguments: '{}' },
  })
  runLog.appendEvent({
    event: 'process_step',
    step: { id: 'step-3', index: 3, type: 'tool_result', ...call, content: '{}', skipped: false },
  })
  for (const piece of ['It is ', 'noon ', '中午。']) runLog.appendProse(4, 'text', piece)
  runLog.closeProse(4)
  runLog.appendEvent({
    event: 'done',
    message_id: messageId,
    token_count: 3,
    suggested_title: null,
    usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4, cached_tokens: 0, cost: {} },
    finish_reason: 'stop',
  })
}

const allOf = (runLog: RunLog, mode: 'delta' | 'cumulative', after: number | null) => {
  const view = createRunView(runLog, mode, after)
  const out: OutgoingEvent[] = []
  for (let now = 0; ; now += 1_000) {
    const events = view.take(now, false)
    if (events.length === 0 && view.dueIn(now) === null) return out
    out.push(...events)
  }
}

/** The steps that a client has built after some events, from what was sent over the wire. */
function reassemble(events: readonly OutgoingEvent[]): readonly Step[] {
  return events.reduce<readonly Step[]>((steps, { event, data }) => {
    // The wire data of these two events is the event itself.
    if (event === 'process_step') return applyRunEvent(steps, { event, step: data as Step })
    if (event === 'step_delta')
      return applyRunEvent(steps, { event, ...(data as object) } as RunEvent)
    return steps
  }, [])
}

describe('a run in delta mode', () => {
  test('emits each event once, in order, with increasing ids', () => {
    const runLog = newChannel()
    playRun(runLog)
    const events = allOf(runLog, 'delta', 0)
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1))
    expect(events.map(({ event }) => event)).toEqual([
      'run',
      ...Array(3).fill('step_delta'),
      'process_step',
      ...Array(2).fill('step_delta'),
      'process_step',
      'process_step',
      'process_step',
      ...Array(3).fill('step_delta'),
      'process_step',
      'done',
    ])
  })

  test('continues after any id without gaps or duplicates', () => {
    const runLog = newChannel()
    playRun(runLog)
    const uncut = allOf(runLog, 'delta', 0)
    for (let cut = 0; cut <= uncut.length; cut += 1) {
      const before = uncut.slice(0, cut)
      const after = allOf(runLog, 'delta', before.at(-1)?.id ?? 0)
      expect([...before, ...after]).toEqual(uncut)
    }
  })

  test('begins with the state so far for an id of another run', () => {
    const runLog = newChannel()
    playRun(runLog)
    for (const foreign of [null, 999, -1, 1.5, Number.NaN]) {
      const events = allOf(runLog, 'delta', foreign)
      expect(events.map(({ event }) => event)).toEqual([
        'run',
        ...Array(5).fill('process_step'),
        'done',
      ])
      expect(reassemble(events)).toEqual(reassemble(allOf(runLog, 'delta', 0)))
    }
  })

  test('sends a listener that joins in the middle of a text the text so far and then what follows', () => {
    const runLog = newChannel()
    runLog.appendProse(0, 'text', 'one ')
    const view = createRunView(runLog, 'delta', null)
    const first = view.take(0, false)
    expect(first.at(-1)).toMatchObject({ event: 'process_step', data: { content: 'one ' } })
    runLog.appendProse(0, 'text', 'two')
    expect(view.take(0, false)).toMatchObject([{ event: 'step_delta', data: { delta: 'two' } }])
  })

  test('joins deltas for a listener that falls behind, and loses nothing', () => {
    const runLog = newChannel()
    for (let at = 0; at < 5_000; at += 1) runLog.appendProse(0, 'text', `${at} `)
    const view = createRunView(runLog, 'delta', 0)
    const events: OutgoingEvent[] = []
    for (;;) {
      const some = view.take(0, true)
      if (some.length === 0) break
      events.push(...some)
    }
    expect(events.length).toBeLessThan(10)
    expect(reassemble(events)).toEqual([runLog.step(0)])
  })
})

describe('a run in cumulative mode', () => {
  test('repeats the whole step at most every 50 ms, and always ends with the last state', () => {
    const runLog = newChannel()
    const view = createRunView(runLog, 'cumulative', 0)
    expect(view.take(0, false).map(({ event }) => event)).toEqual(['run'])
    runLog.appendProse(0, 'text', 'a')
    expect(view.take(10, false)).toMatchObject([{ data: { content: 'a' } }])
    runLog.appendProse(0, 'text', 'b')
    expect(view.take(20, false)).toEqual([])
    expect(view.dueIn(20)).toBe(40)
    expect(view.take(60, false)).toMatchObject([{ data: { content: 'ab' } }])
    runLog.appendProse(0, 'text', 'c')
    runLog.closeProse(0)
    expect(view.take(61, false)).toMatchObject([{ data: { content: 'abc' } }])
  })

  test('repeats a long step less often, so that a stream stays below 100 KB a second', () => {
    const runLog = newChannel()
    const view = createRunView(runLog, 'cumulative', 0)
    runLog.appendProse(0, 'text', 'x'.repeat(50_000))
    view.take(0, false)
    runLog.appendProse(0, 'text', 'y')
    expect(view.take(400, false)).toEqual([])
    expect(view.take(501, false)).toHaveLength(1)
  })

  test('sends a client that reconnects the steps that it has not seen completely', () => {
    const runLog = newChannel()
    playRun(runLog)
    const uncut = allOf(runLog, 'cumulative', 0)
    for (let cut = 0; cut <= uncut.length; cut += 1) {
      const before = uncut.slice(0, cut)
      const after = allOf(runLog, 'cumulative', before.at(-1)?.id ?? 0)
      expect(reassemble([...before, ...after])).toEqual(reassemble(uncut))
    }
  })
})

test('a new attempt replaces an interrupted step for listeners that have seen part of it', () => {
  const first = newChannel()
  first.appendProse(0, 'text', 'Hel')
  const seen = allOf(first, 'delta', 0)
  const prose = first.prose(0)
  if (prose === undefined) throw new Error('the step is there')
  const again = createRunLog({
    entries: [...first.entries],
    steps: [{ ...prose, closed: true }],
    lastId: idsBefore(2),
  })
  again.appendProse(0, 'text', 'Good ')
  again.appendProse(0, 'text', 'day')
  again.closeProse(0)
  const later = allOf(again, 'delta', seen.at(-1)?.id ?? 0)
  expect(reassemble([...seen, ...later])).toMatchObject([{ content: 'Good day' }])
  expect(reassemble(allOf(again, 'delta', null))).toMatchObject([{ content: 'Good day' }])
})

test('text that arrives all at once is emitted in events of bounded size, none of which splits a character', () => {
  const runLog = newChannel()
  const text = `a${'🦀'.repeat(100_000)}`
  runLog.appendProse(0, 'text', text)
  runLog.closeProse(0)
  const deltas = allOf(runLog, 'delta', 0)
    .filter(({ event }) => event === 'step_delta')
    // The shape of `step_delta` is checked by the other tests.
    .map(({ data }) => (data as { delta: string }).delta)
  expect(deltas.join('')).toBe(text)
  expect(Math.max(...deltas.map(({ length }) => length))).toBeLessThanOrEqual(32_000)
  expect(Buffer.from(deltas.join('|')).toString()).toBe(deltas.join('|'))
  expect(runLog.prose(0)?.cuts).toEqual(deltas.map(({ length }) => length))
})

test('a listener that is ahead of a mirrored log gets the following events once, whether the rest arrives or another attempt begins', () => {
  const play = (mirror: Mirror, count: number, attempt: number, pieces: string[]): void => {
    const first = idsBefore(attempt) + count
    const entries = pieces.map((text, at) => ({
      id: first + at,
      kind: at === 0 && attempt > 1 ? ('whole' as const) : ('text' as const),
      index: 0,
      type: 'text' as const,
      text,
    }))
    mirror.receive({ attempt, entries, notices: [] })
  }
  for (const attempt of [1, 2]) {
    const mirror = createMirror(runId)
    play(mirror, 1, 1, ['One ', 'two '])
    const view = createRunView(mirror.runLog, 'delta', 3)
    expect(view.take(0, false)).toEqual([])
    if (attempt === 1) play(mirror, 3, 1, ['three ', 'four.'])
    else play(mirror, 1, 2, ['Anew.'])
    expect(view.take(1, false).map(({ id }) => id)).toEqual([attempt === 1 ? 4 : 1_000_001])
  }
  const ended = newChannel()
  playRun(ended)
  expect(createRunView(ended, 'delta', 500).take(0, false)[0]?.id).toBe(1)
})

const STORED = {
  run: {
    ...chatRun('user' as UserId, 'conversation' as ConversationId, messageId),
    attempt: 2,
    status: 'running' as const,
  },
  approvals: [],
  inputs: [],
}

/** The rows of an answer whose text another attempt continues, after it has thought. */
function continuedRows(firstHalf: string, pieces: readonly string[]): StepRow[] {
  const row = { messageId, idRef: null, name: null, skipped: false, artifact: null, closed: true }
  const lengths = pieces.map(({ length }) => length)
  const cuts = [firstHalf.length + (lengths[0] ?? 0), ...lengths.slice(1)].join(',')
  const content = [firstHalf, ...pieces].join('')
  const rest = { ...row, startedAt: null, durationMs: null, grantId: null, origin: null }
  return [
    { ...rest, position: 0, type: 'text', content, firstEvent: 1_000_003, cuts: `r${cuts}` },
    { ...rest, position: 1, type: 'thinking', content: 'Hm.', firstEvent: 1_000_001, cuts: '3' },
  ]
}

test('a mirror that reads a growing, continued text from the store goes on with it, however long its first half is', () => {
  for (const half of ['One ', 'x'.repeat(80_000)]) {
    const mirror = createMirror(runId)
    mirror.catchUp({ ...STORED, rows: continuedRows(half, ['two ', 'three ']) })
    expect(mirror.runLog.step(0)).toMatchObject({ content: `${half}two three ` })
    expect(mirror.runLog.step(1)).toMatchObject({ type: 'thinking', content: 'Hm.' })
    const text = { kind: 'text', index: 0, type: 'text' } as const
    const sent = { attempt: 2, notices: [] }
    expect(mirror.receive({ ...sent, entries: [{ ...text, id: 1_000_005, text: 'four' }] })).toBe(
      true,
    )
    expect(mirror.runLog.step(0)).toMatchObject({ content: `${half}two three four` })
  }
})

test('a mirror that only reads the store sees each state of a continued text, its end and the title', () => {
  const mirror = createMirror(runId)
  mirror.catchUp({ ...STORED, rows: continuedRows('One ', ['two ']) })
  mirror.catchUp({ ...STORED, rows: continuedRows('One ', ['two ', 'three.']) })
  expect(mirror.runLog.step(0)).toMatchObject({ content: 'One two three.' })
  mirror.catchUp({
    ...STORED,
    run: {
      ...STORED.run,
      status: 'completed',
      endedAt: new Date(),
      state: { title: 'Numbers' },
      lastEvent: 1_000_007,
    },
    rows: continuedRows('One ', ['two ', 'three.']),
  })
  expect(mirror.runLog.step(0)).toMatchObject({ content: 'One two three.' })
  expect(mirror.runLog.terminal).toMatchObject({ event: 'done' })
  const events = allOf(mirror.runLog, 'delta', 0).map(({ event }) => event)
  expect(events).toContain('title')
})
