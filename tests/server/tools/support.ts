// Shared by the tests of the tools: a context, calls, and small tools.
import { z } from 'zod'
import type { ToolCall } from '../../../server/llm/client.ts'
import type {
  CallId,
  ConversationId,
  ProjectId,
  RunId,
  UserId,
} from '../../../server/protocol/ids.ts'
import type { Approvals } from '../../../server/tools/approval.ts'
import {
  type AgentStarter,
  defineTool,
  type ParsedInput,
  succeed,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from '../../../server/tools/definition.ts'
import {
  type CallRecorder,
  createToolExecutor,
  type ExecuteOptions,
  type ExecutorDependencies,
} from '../../../server/tools/executor.ts'
import { createMemoryLongResults } from '../../../server/tools/long-results.ts'
import { createToolSet } from '../../../server/tools/registry.ts'
import { createResultCache } from '../../../server/tools/result-cache.ts'
import type { SkillFiles } from '../../../server/tools/skill-files.ts'
import type { Spending } from '../../../server/tools/spending.ts'
import { runInput } from '../../../server/tools/timed-run.ts'
import type { CallResult } from '../../../server/tools/tool-result.ts'

/** An agent starter for tools that start no agents. */
export const noAgents: AgentStarter = {
  performTasks: () => Promise.reject(new Error('no sub-agents here')),
  startBackgroundTask: () => Promise.reject(new Error('no background tasks here')),
}

/** For tools that run programs without skills. */
export const noSkills: SkillFiles = { activeContents: async () => [] }

/** For tools that spend nothing. */
export const noSpending: Spending = {
  admit: () => Promise.reject(new Error('nothing is spent here')),
}

export const context: ExecuteOptions['context'] = {
  userId: 'user' as UserId,
  conversationId: 'conversation' as ConversationId,
  projectId: 'project' as ProjectId,
  runId: 'run' as RunId,
  messageId: null,
  isTainted: () => false,
  model: 'scripted',
  agents: noAgents,
  spending: noSpending,
}

/** A context for running a single tool directly. */
export const toolContext = (over: Partial<ToolContext> = {}): ToolContext => ({
  ...context,
  callId: 'call' as CallId,
  signal: new AbortController().signal,
  progress: () => {},
  ...over,
})

export const call = (id: string, name: string, args: unknown = {}): ToolCall => ({
  id: id as CallId,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
})

/** Fails the test: tools throw nothing but an `AppError`. */
const rethrow = (error: unknown): never => {
  throw error
}

/** Runs checked arguments as the executor does. */
export const runChecked = (input: ParsedInput, context: ToolContext): Promise<ToolResult> =>
  runInput(input, context, rethrow)

/** Validates the arguments and runs the tool, as the executor does. */
export async function runTool(
  tool: ToolDefinition,
  args: unknown,
  over: Partial<ToolContext> = {},
): Promise<ToolResult> {
  const parsed = tool.parse(JSON.stringify(args))
  if (!parsed.ok) return { success: false, error: parsed.error }
  return runChecked(parsed.input, toolContext(over))
}

/** Approvals under which nothing requires approval. */
export const noApprovals: Approvals = {
  permissionFor: async () => ({ kind: 'free' }),
  newAddresses: async () => [],
  allowsRedirect: async () => true,
  request: async () => ({ decision: 'approve' }),
}

/** A recorder that stores nothing. */
export const noRecorder: CallRecorder = { begin: async () => true, settled: async () => {} }

/** A tool that returns its own arguments and records its runs. */
export function countingTool(
  over: Partial<{
    name: string
    cacheable: boolean
    changesProject: boolean
    riskLevel: 'low' | 'medium' | 'high'
    repeatable: boolean
    untrusted: boolean
    timeoutMs: number
    orderKey: (input: { value?: string | undefined }) => string | null
    work: (value: string, context: ToolContext, run: number) => Promise<ToolResult>
  }> = {},
): { tool: ToolDefinition; runs: string[] } {
  const { work, ...rest } = over
  const runs: string[] = []
  const tool = defineTool({
    name: 'echo',
    description: 'Answers its argument.',
    category: 'test',
    riskLevel: 'low',
    input: z.object({ value: z.string().optional(), more: z.unknown().optional() }),
    ...rest,
    handler: async (input, toolContext) => {
      runs.push(input.value ?? '')
      return work?.(input.value ?? '', toolContext, runs.length) ?? succeed({ said: input.value })
    },
  })
  return { tool, runs }
}

export interface Bench {
  execute(calls: readonly ToolCall[], over?: Partial<ExecuteOptions>): Promise<CallResult[]>
  parts: ExecutorDependencies
}

/** An executor over these tools, with the simplest possible dependencies. */
export function bench(
  tools: readonly ToolDefinition[],
  over: Partial<ExecutorDependencies> = {},
): Bench {
  const parts: ExecutorDependencies = {
    tools: createToolSet(tools),
    cache: createResultCache({ ttlSeconds: 300 }),
    results: createMemoryLongResults(),
    safety: { redact: (text) => text, onFault() {} },
    maxWorkers: 4,
    ...over,
  }
  const executor = createToolExecutor(parts)
  return {
    parts,
    execute: async (calls, options = {}) => {
      const answers: CallResult[] = []
      const running = executor.execute(calls, {
        signal: new AbortController().signal,
        context,
        progress: () => {},
        approvals: noApprovals,
        recorder: noRecorder,
        ...options,
      })
      for await (const answer of running) answers.push(answer)
      return answers
    },
  }
}

const Content = z.looseObject({
  success: z.boolean(),
  data: z.unknown().optional(),
  error: z.string().optional(),
  execution_time: z.number(),
  cached: z.literal(true).optional(),
  duplicate: z.literal(true).optional(),
  duplicate_of: z.string().optional(),
  skipped: z.literal(true).optional(),
})

/** The content of a result as the model receives it, with its shape checked. */
export const read = (answer: CallResult | undefined): z.infer<typeof Content> =>
  Content.parse(JSON.parse(answer?.content ?? 'null'))

/** A promise that the test resolves with `open`. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
