// The replay of a finished run equals what was emitted from memory, however long its texts are.
import { beforeAll, expect, test } from 'vitest'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { longJsonPieces } from '../../../../server/lib/json-pieces.ts'
import type { CallId } from '../../../../server/protocol/ids.ts'
import { createCutsWriter, readCuts } from '../../../../server/runs/log/history.ts'
import { createRunLog, type RunLog } from '../../../../server/runs/log/log.ts'
import { replayRun } from '../../../../server/runs/log/stored-replay.ts'
import { createRunView, type StreamMode } from '../../../../server/runs/log/view.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'
import { chatRun, say, somebody } from '../../../support/store/store-rows.ts'

/** Longer than one read from the store, with characters of one to four bytes, in events of uneven length. */
const LONG = Array.from({ length: 20_000 }, (_, at) => `${at} é 中 🦀 `)

describeOnEachDatabase('the replay of a run', (open) => {
  let store: Store
  let runLog: RunLog
  let run: Parameters<typeof replayRun>[0]

  beforeAll(async () => {
    const database = await open()
    store = createStore(database)
    const { id: user } = await somebody(store)
    const conversation = await store.conversations.create(user, {})
    const answer = await say(database, conversation.id, '', null, { role: 'assistant' })
    run = chatRun(user, conversation.id, answer)
    runLog = createRunLog({ entries: [], steps: [], lastId: 0 })
    runLog.appendEvent({
      event: 'run',
      run_id: run.id,
      user_message_id: run.userMessageId,
      message_id: run.messageId,
      origin: { type: 'page' },
    })
    for (const piece of ['Let ', 'me ', 'see.']) runLog.appendProse(0, 'thinking', piece)
    const thinking = runLog.prose(0)
    if (thinking !== undefined) thinking.durationMs = 1_250
    runLog.closeProse(0)
    const call = { id_ref: 'call_1' as CallId, name: 'get_current_time' }
    runLog.appendEvent({
      event: 'process_step',
      step: { id: 'step-1', index: 1, type: 'tool_call', ...call, arguments: '{}' },
    })
    runLog.appendEvent({
      event: 'process_step',
      step: { id: 'step-2', index: 2, type: 'tool_result', ...call, content: '{}', skipped: false },
    })
    for (let at = 0; at < LONG.length; at += 500)
      runLog.appendProse(3, 'text', LONG.slice(at, at + 500).join(''))
    runLog.closeProse(3)
    runLog.appendProse(4, 'text', 'Broken off')
    const firstOf = (index: number) => ({ 1: 6, 2: 7 })[index] ?? 0
    await database.write(async (tx) => {
      await store.runs.insert(tx, run)
      for (let index = 0; index < runLog.stepCount; index += 1) {
        const prose = runLog.prose(index)
        const step = runLog.step(index)
        if (step === undefined) throw new Error('every step is there')
        const place = { messageId: run.messageId, position: index }
        if (prose !== undefined)
          await store.steps.storeProse(
            tx,
            run.userId,
            {
              ...place,
              type: prose.type,
              content: prose.content,
              closed: prose.closed,
              firstEvent: prose.firstEvent,
              cuts: createCutsWriter()(prose),
              durationMs: prose.durationMs,
            },
            run,
          )
        else
          await store.steps.store(tx, run.userId, {
            ...place,
            type: step.type,
            content: 'content' in step ? step.content : step.arguments,
            idRef: 'id_ref' in step ? step.id_ref : null,
            name: 'name' in step ? step.name : null,
            skipped: false,
            closed: true,
            firstEvent: firstOf(index),
          })
      }
    })
    run = { ...run, endedAt: new Date(), finishReason: 'stopped', lastEvent: runLog.lastId + 1 }
    runLog.appendEvent({
      event: 'done',
      message_id: run.messageId,
      token_count: 0,
      suggested_title: null,
      usage: {
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        cached_tokens: 0,
        cost: {},
      },
      finish_reason: 'stopped',
    })
  })

  const fromMemory = (mode: StreamMode, after: number | null): string => {
    const view = createRunView(runLog, mode, after)
    const emitted: unknown[] = []
    for (let now = 0; ; now += 100_000) {
      const events = view.take(now, false)
      if (events.length === 0 && view.dueIn(now) === null) return JSON.stringify(emitted)
      emitted.push(...events)
    }
  }
  const fromStore = async (mode: StreamMode, afterId: number | null): Promise<string> => {
    const texts: string[] = []
    for await (const event of replayRun(run, store.steps, { mode, afterId })) {
      let text = ''
      for await (const piece of longJsonPieces(event)) text += piece
      texts.push(text)
    }
    return `[${texts.join(',')}]`
  }

  test.each(['delta', 'cumulative'] as const)(
    'in %s mode equals what a listener received, from every event id',
    async (mode) => {
      const last = runLog.lastId
      for (const after of [null, 0, 1, 4, 7, 8, 30, last - 1, last, last + 5]) {
        const [stored, emitted] = [await fromStore(mode, after), fromMemory(mode, after)]
        // Compared by hand: building the assertion message for texts of this size would take minutes.
        let same = 0
        while (same < emitted.length && stored[same] === emitted[same]) same += 1
        const around = (text: string): string => text.slice(Math.max(0, same - 150), same + 150)
        expect(around(stored), `after ${after}`).toBe(around(emitted))
        expect(stored.length).toBe(emitted.length)
      }
    },
  )

  test('treats invalid cut positions as one piece', () => {
    expect(readCuts('1,2', 3).cuts).toEqual([1, 2])
    expect(readCuts('1,2', 4).cuts).toEqual([4])
    expect(readCuts('r1,2', null)).toEqual({ cuts: [1, 2], replaces: true })
  })

  test('the cut positions of a growing step are appended to those written before, and those of another step begin anew', () => {
    const write = createCutsWriter()
    const growing = { cuts: [3], replaces: true }
    expect(write(growing)).toBe('r3')
    growing.cuts.push(1, 20)
    expect(write(growing)).toBe('r3,1,20')
    expect(write(growing)).toBe('r3,1,20')
    expect(write({ cuts: [7, 8], replaces: false })).toBe('7,8')
    expect(write({ cuts: [], replaces: false })).toBe('')
    expect(write(growing)).toBe('r3,1,20')
  })
})
