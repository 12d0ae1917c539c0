// Measures how much longer four slow tools of one iteration take than the slowest of them alone.
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { ToolCall } from '../server/llm/client.ts'
import type { CallId, RunId, UserId } from '../server/protocol/ids.ts'
import type { Approvals } from '../server/tools/approval.ts'
import { defineTool, succeed } from '../server/tools/definition.ts'
import { type CallRecorder, createToolExecutor } from '../server/tools/executor.ts'
import { createMemoryLongResults } from '../server/tools/long-results.ts'
import { createToolSet } from '../server/tools/registry.ts'
import { createResultCache } from '../server/tools/result-cache.ts'
import { median, type Row } from './row.ts'

const SLOWEST_MS = 400
const ROUNDS = 7
const LIMIT = 1.2

const slow = defineTool({
  name: 'slow',
  description: 'Waits, like a tool that calls a service.',
  category: 'bench',
  riskLevel: 'low',
  input: z.object({ ms: z.number() }),
  handler: async ({ ms }) => {
    await wait(ms)
    return succeed('x'.repeat(10_000))
  },
})

const approvals: Approvals = {
  permissionFor: async () => ({ kind: 'free' }),
  newAddresses: async () => [],
  allowsRedirect: async () => true,
  request: async () => ({ decision: 'approve' }),
}
const recorder: CallRecorder = { begin: async () => true, settled: async () => {} }

/** Ratio of the medians of four parallel calls and of the slowest one alone, measured in alternation. */
export async function run(): Promise<Row[]> {
  const round = async (durations: readonly number[]): Promise<number> => {
    const executor = createToolExecutor({
      tools: createToolSet([slow]),
      cache: createResultCache({ ttlSeconds: 300 }),
      results: createMemoryLongResults(),
      safety: { redact: (text) => text, onFault() {} },
      maxWorkers: 4,
    })
    const calls = durations.map(
      (ms, index): ToolCall => ({
        id: `call-${index}` as CallId, // a fake provider call id
        name: 'slow',
        arguments: JSON.stringify({ ms }),
      }),
    )
    const startedAt = performance.now()
    const answers = executor.execute(calls, {
      signal: new AbortController().signal,
      context: {
        isTainted: () => false,
        spending: { admit: async () => null },
        agents: {
          performTasks: () => Promise.reject(new Error('no sub-agents here')),
          startBackgroundTask: () => Promise.reject(new Error('no background tasks here')),
        },
        userId: 'bench' as UserId, // never looked up in the store
        conversationId: null,
        projectId: null,
        runId: 'bench' as RunId,
        messageId: null,
        model: 'bench',
      },
      progress: () => {},
      approvals,
      recorder,
    })
    for await (const answer of answers) if (!answer.success) throw new Error(answer.content)
    return performance.now() - startedAt
  }

  const alone: number[] = []
  const together: number[] = []
  for (let turn = 0; turn < ROUNDS; turn++) {
    alone.push(await round([SLOWEST_MS]))
    together.push(await round([SLOWEST_MS, SLOWEST_MS * 0.9, SLOWEST_MS * 0.75, SLOWEST_MS * 0.5]))
  }
  const ratio = median(together) / median(alone)
  return [
    {
      suite: 'agents',
      figure: 'four slow tools in one iteration vs. the slowest alone',
      target: `≤ ${LIMIT}`,
      value: Number(ratio.toFixed(3)),
      unit: '×',
      ok: ratio <= LIMIT,
    },
  ]
}
