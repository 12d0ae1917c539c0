// The state of a live run is a fold over its events: steps, open approval requests, live output, its end.
import i18next from 'i18next'
import { describe, expect, test } from 'vitest'
import { CallId, ConversationId, MessageId, RunId } from '../../server/protocol/ids.ts'
import type { RunEvent } from '../../server/protocol/runs/run-event.ts'
import type { CallProgress } from '../../server/protocol/runs/tool-progress.ts'
import { foldEvent, newLiveRun } from '../../web/src/features/chat/runs/fold-event.ts'
import { countText } from '../../web/src/features/chat/runs/tool-progress.ts'
import { toSegments } from '../../web/src/features/chat/steps/segments.ts'
import { pageTexts } from '../support/page/texts.ts'

const call = CallId.parse('call-1')
const runId = RunId.parse('r')
const fold = (events: readonly RunEvent[]) =>
  events.reduce(
    (run, event) => foldEvent(run, event, 1_000),
    newLiveRun(runId, ConversationId.parse('c')),
  )

const toolCall: RunEvent = {
  event: 'process_step',
  step: {
    id: 'step-1',
    index: 1,
    type: 'tool_call',
    id_ref: call,
    name: 'exec',
    arguments: '{"command":"ls"}',
  },
}
const toolResult: RunEvent = {
  event: 'process_step',
  step: {
    id: 'step-2',
    index: 2,
    type: 'tool_result',
    id_ref: call,
    name: 'exec',
    content: '{"success":true}',
    skipped: false,
  },
}
const question: RunEvent = {
  event: 'approval_required',
  run_id: runId,
  id_ref: call,
  approval_id: 'request',
  call_hash: 'hash',
  deadline: null,
  name: 'exec',
  arguments: '{"command":"ls"}',
  risk_level: 'high',
}

describe('following a run', () => {
  test('a decided approval request disappears before its result arrives, and a rejection is remembered until then', () => {
    const decided = (decision: 'approve' | 'reject'): RunEvent => ({
      event: 'tool_progress',
      id_ref: call,
      progress: { kind: 'decided', decision },
    })
    expect(fold([toolCall, question]).approvals).toHaveLength(1)
    expect(fold([toolCall, question, decided('approve')])).toMatchObject({
      approvals: [],
      rejected: [],
      progress: {},
    })
    expect(fold([toolCall, question, decided('reject')])).toMatchObject({
      approvals: [],
      rejected: [call],
    })
  })

  test('a call that waited for approval runs from the decision on', () => {
    const waiting = fold([toolCall, question])
    const decided: RunEvent = {
      event: 'tool_progress',
      id_ref: call,
      progress: { kind: 'decided', decision: 'approve' },
    }
    expect(foldEvent(waiting, decided, 61_000).startedAt[call]).toBe(61_000)
  })

  test('text grows by its deltas and is replaced by the closing step', () => {
    const run = fold([
      { event: 'step_delta', id: 'step-0', index: 0, type: 'text', delta: 'Hel' },
      { event: 'step_delta', id: 'step-0', index: 0, type: 'text', delta: 'lo' },
      {
        event: 'process_step',
        step: { id: 'step-0', index: 0, type: 'text', content: 'Hello.' },
      },
    ])
    expect(run.steps).toEqual([{ id: 'step-0', index: 0, type: 'text', content: 'Hello.' }])
  })

  test('an approval request is shown until its call has a result', () => {
    expect(fold([toolCall, question]).approvals).toHaveLength(1)
    expect(fold([toolCall, question, question]).approvals).toHaveLength(1)
    expect(fold([toolCall, question, toolResult]).approvals).toEqual([])
  })

  test('live output of a tool accumulates and is replaced by the result', () => {
    const progress = (text: string): RunEvent => ({
      event: 'tool_progress',
      id_ref: call,
      progress: { kind: 'output', stream: 'stdout', text },
    })
    const running = fold([toolCall, progress('one\n'), progress('two\n')])
    expect(running.progress[call]?.output).toBe('one\ntwo\n')
    expect(foldEvent(running, toolResult, 2_000).progress).toEqual({})
  })

  test('a run ends with a done or error event', () => {
    const done = fold([
      {
        event: 'done',
        message_id: MessageId.parse('m'),
        token_count: 3,
        suggested_title: 'T',
        usage: {
          prompt_tokens: 1,
          completion_tokens: 3,
          total_tokens: 4,
          cached_tokens: 0,
          cost: {},
        },
        finish_reason: 'max_iterations',
      },
    ])
    expect(done).toMatchObject({ state: 'done', finishReason: 'max_iterations', title: 'T' })
    expect(
      fold([{ event: 'error', content: 'Too busy.', code: 'model_rate_limited', retryable: true }]),
    ).toMatchObject({ state: 'error', error: { content: 'Too busy.' } })
  })
})

describe('rendered steps', () => {
  test('a result is rendered with its call, and prose separates groups of activity', () => {
    const { steps, growing } = fold([
      { event: 'step_delta', id: 'step-0', index: 0, type: 'thinking', delta: 'hm' },
      toolCall,
      toolResult,
      { event: 'step_delta', id: 'step-3', index: 3, type: 'text', delta: 'Done.' },
    ])
    const segments = toSegments(steps, growing)
    expect(segments.map(({ kind }) => kind)).toEqual(['activity', 'prose'])
    expect(segments[0]).toMatchObject({
      items: [
        { kind: 'thinking', open: false },
        { kind: 'tool', result: { id_ref: call } },
      ],
    })
  })

  test('thinking is open while it grows, and no longer when the text before it goes on', () => {
    const thinking: RunEvent[] = [
      {
        event: 'process_step',
        step: { id: 'step-0', index: 0, type: 'text', content: 'The first ' },
      },
      { event: 'step_delta', id: 'step-1', index: 1, type: 'thinking', delta: 'hm' },
    ]
    const openOf = (events: RunEvent[]) => {
      const { steps, growing } = fold(events)
      return { growing, segments: toSegments(steps, growing) }
    }
    expect(openOf(thinking)).toMatchObject({
      growing: 1,
      segments: [{ kind: 'prose' }, { items: [{ kind: 'thinking', open: true }] }],
    })
    expect(
      openOf([
        ...thinking,
        { event: 'step_delta', id: 'step-0', index: 0, type: 'text', delta: 'half.' },
      ]),
    ).toMatchObject({
      growing: 0,
      segments: [
        { kind: 'prose', text: 'The first half.' },
        { items: [{ kind: 'thinking', open: false }] },
      ],
    })
  })

  test('steps are rendered up to the first one that is still missing', () => {
    const { steps, growing } = fold([toolCall])
    expect(() => toSegments(steps, growing)).not.toThrow()
    expect(toSegments(steps, growing)).toHaveLength(1)
  })

  test('the count of a tool replaces the previous one and is shown in the language of the page', async () => {
    const count = (progress: CallProgress): RunEvent => ({
      event: 'tool_progress',
      id_ref: call,
      progress,
    })
    const run = fold([
      toolCall,
      count({ kind: 'count', done: 3, total: 10, unit: 'pages' }),
      count({ kind: 'count', done: 1204, unit: 'files' }),
    ])
    expect(run.progress[call]?.count).toEqual({ done: 1204, unit: 'files' })

    await i18next.init({
      resources: { en: { translation: pageTexts('en') }, zh: { translation: pageTexts('zh') } },
    })
    const said = (language: 'en' | 'zh') => {
      const t = i18next.getFixedT(language)
      return [
        countText({ done: 1204, unit: 'files' }, t, language),
        countText({ done: 3, total: 10, unit: 'pages' }, t, language),
        countText({ done: 1, total: 4 }, t, language),
      ]
    }
    expect(said('en')).toEqual(['1,204 files searched', '3 of 10 pages read', '1 of 4 done'])
    expect(said('zh')).toEqual(['已搜索 1,204 个文件', '已读取 3 / 10 个网页', '已完成 1 / 4'])
  })
})
