// The agent loop and the recorder together, on an in-memory store: nothing is emitted before it is stored.
import { describe, expect, test } from 'vitest'
import { runAgentLoop } from '../../../server/agent/loop.ts'
import type { Said } from '../../support/provider/llm.ts'
import {
  calling,
  finished,
  says,
  scriptedClient,
  text,
  thinking,
  toolCall,
} from '../../support/provider/scripted-client.ts'
import { rounds } from '../../support/random.ts'
import { createRecorderBench, done, nothing, record, resultOf } from './recorder-bench.ts'

describe('a loop that is recorded', () => {
  for (const { random, what } of rounds(30))
    test(`never emits a completed step that is not stored (${what})`, async () => {
      let calls = 0
      const script = (last: boolean): Said[] => [
        ...Array.from({ length: random.below(5) }, (_, at) =>
          random.pick([thinking, text])(`piece ${at} `),
        ),
        ...(last
          ? [text('The end.'), finished()]
          : [
              ...calling(
                ...Array.from({ length: 1 + random.below(3) }, () => toolCall(`call-${calls++}`)),
              ),
              finished('tool_calls'),
            ]),
      ]
      const iterations = random.below(4)
      const scripts = Array.from({ length: iterations + 1 }, (_, at) =>
        says(script(at === iterations)),
      )
      const { recorder, log, rows } = createRecorderBench({
        onEmit: (entry) => {
          const index =
            entry.kind === 'whole'
              ? entry.index
              : entry.kind === 'event' && entry.event.event === 'process_step'
                ? entry.event.step.index
                : null
          if (index === null) return
          const step = log.step(index)
          expect(rows.get(index)).toMatchObject({
            closed: true,
            content: step?.type === 'tool_call' ? step.arguments : step?.content,
          })
        },
      })
      const loop = runAgentLoop({
        llm: scriptedClient(...scripts),
        messages: [{ role: 'user', content: 'Go' }],
        tools: [],
        request: {},
        prose: recorder,
        maxIterations: 10,
        pendingCalls: [],
        budgetLeft: async () => true,
        fitToWindow: async (messages) => messages,
        signal: new AbortController().signal,
        async *runTools(batch) {
          // Stored in a different order than emitted.
          for (const call of [...batch].reverse())
            await recorder.storeResult(resultOf(call), nothing)
          for (const call of batch) yield resultOf(call)
        },
      })
      await record(loop, recorder)
      expect(log.terminal).toEqual(done)
      expect([...rows.keys()].sort((a, b) => a - b)).toEqual(
        Array.from({ length: log.stepCount }, (_, at) => at),
      )
      for (const [index, row] of rows)
        expect(row.firstEvent, `step ${index} has its event`).toBeGreaterThan(0)
    })
})
