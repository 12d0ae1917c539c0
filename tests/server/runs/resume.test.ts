// A run that crashes after any commit resumes and ends as it would have without the crash: loop, recorder, history and
// resume point together, on an in-memory store.
import { expect, test } from 'vitest'
import { answerMessages } from '../../../server/agent/history.ts'
import { runAgentLoop } from '../../../server/agent/loop.ts'
import { type StepRow, toStep } from '../../../server/db/repositories/conversations/steps.ts'
import type { LlmClient, LlmMessage } from '../../../server/llm/client.ts'
import { resumePoint } from '../../../server/runs/context.ts'
import { createToolSet } from '../../../server/tools/registry.ts'
import { type Said, say } from '../../support/provider/llm.ts'
import {
  calling,
  finished,
  text,
  thinking,
  toolCall,
} from '../../support/provider/scripted-client.ts'
import { type Random, rounds, SEED } from '../../support/random.ts'
import { countingTool } from '../tools/support.ts'
import { createRecorderBench, nothing, record, resultOf } from './recorder-bench.ts'

const tools = createToolSet([
  countingTool({ name: 'look', repeatable: true }).tool,
  countingTool({ name: 'send', repeatable: false }).tool,
])

/** The model's output in each iteration; the last one has no calls. */
function randomScript(random: Random): Said[][] {
  let count = 0
  const prose = (): Said[] => [
    ...(random.below(2) === 0 ? [thinking('Hm.')] : []),
    ...(random.below(2) === 0 ? [text('Let me see.')] : []),
  ]
  const iterations = Array.from({ length: 1 + random.below(3) }, () => {
    const calls = Array.from({ length: 1 + random.below(3) }, () =>
      toolCall(`call-${count++}`, random.pick(['look', 'send'])),
    )
    return [...prose(), ...calling(...calls), finished('tool_calls')]
  })
  return [...iterations, [...prose(), text('The end.'), finished()]]
}

/** A model that finds its place in the script from the conversation's iterations, so that it serves every attempt. */
const modelOf = (script: Said[][]): LlmClient => ({
  async *stream({ messages, prose }) {
    const done = messages.filter((message) => message.role === 'assistant' && message.toolCalls)
    yield* say(script[done.length] ?? [], prose)
  },
})

interface Attempt {
  rows: StepRow[]
  /** After each commit: the stored rows, and the calls that had run. */
  commits: { rows: readonly StepRow[]; ran: string[] }[]
  ran: string[]
}

/** Performs one attempt of the run, from the stored rows to the end. */
async function perform(script: Said[][], stored: readonly StepRow[]): Promise<Attempt> {
  const commits: Attempt['commits'] = []
  const ran: string[] = []
  const inOrder = [...stored].sort((a, b) => a.position - b.position)
  const { pendingCalls, interrupted, nextIndex, places } = resumePoint(inOrder, tools)
  const { recorder, rows, log } = createRecorderBench({
    rows: stored,
    nextIndex,
    openCalls: places,
    onCommit: (all) => commits.push({ rows: all, ran: [...ran] }),
  })
  const kept = inOrder.filter(({ position }) => position < nextIndex).map(toStep)
  const messages: LlmMessage[] = [
    { role: 'user', content: 'Go' },
    ...answerMessages(kept, '', { current: true }),
  ]
  const loop = runAgentLoop({
    llm: modelOf(script),
    messages,
    tools: [],
    request: {},
    prose: recorder,
    maxIterations: 10,
    pendingCalls,
    budgetLeft: async () => true,
    fitToWindow: async (all) => all,
    signal: new AbortController().signal,
    async *runTools(batch) {
      for (const call of [...batch].reverse()) {
        if (!interrupted.has(call.id)) {
          if (call.name === 'send') await recorder.begin(call)
          ran.push(call.id)
        }
        await recorder.storeResult(resultOf(call), nothing)
      }
      for (const call of batch) yield resultOf(call)
    },
  })
  await record(loop, recorder)
  expect(log.terminal?.event).toBe('done')
  return { rows: [...rows.values()].sort((a, b) => a.position - b.position), commits, ran }
}

/** Calls and results, in order. */
const callsIn = (rows: readonly StepRow[]) =>
  rows.flatMap(({ type, idRef }) => (idRef === null ? [] : [`${type} ${idRef}`]))

test(`a run that dies after any commit ends with the same calls, each with one result, and repeats no call that is not repeatable (SEED=${SEED})`, async () => {
  for (const { random, what } of rounds(15)) {
    const script = randomScript(random)
    const whole = await perform(script, [])
    for (const [at, commit] of [{ rows: [], ran: [] }, ...whole.commits.slice(0, -1)].entries()) {
      const name = `${what}, died after commit ${at}`
      const next = await perform(script, commit.rows)
      expect(callsIn(next.rows), name).toEqual(callsIn(whole.rows))
      expect(next.rows.at(-1), name).toMatchObject({
        type: 'text',
        content: expect.stringMatching(/The end\.$/),
        closed: true,
      })
      expect(
        next.rows.filter(({ closed }) => !closed),
        name,
      ).toEqual([])
      // Steps that were stored as complete are unchanged.
      for (const row of commit.rows)
        if (row.closed)
          expect(
            next.rows.find(({ position }) => position === row.position),
            name,
          ).toMatchObject({
            type: row.type,
            content: row.content,
          })
      const begun = commit.rows.filter(({ name: tool, startedAt }) => tool === 'send' && startedAt)
      for (const { idRef } of begun) expect(next.ran, name).not.toContain(idRef)
    }
  }
})
