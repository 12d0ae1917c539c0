// The output items of a response, from the steps of its run. An item's id names its run and its step.
import { z } from 'zod'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { RunId } from '../protocol/ids.ts'
import type { OutputItem } from '../protocol/openai/responses.ts'
import type { Step } from '../protocol/runs/step.ts'
import { clientCallId } from './names.ts'
import type { PastEntry } from './past.ts'

const SERVER_LABEL = 'nanoclaw'

type CallStep = Extract<Step, { type: 'tool_call' }>

/** The fields of a tool result's text that state its outcome. */
const ToolOutcome = z.object({ success: z.boolean(), error: z.string().optional() })

/** The outcome of a server tool for its item. */
export function outcomeOf(
  content: string,
): Pick<Extract<OutputItem, { type: 'mcp_call' }>, 'output' | 'error' | 'status'> {
  const outcome = ToolOutcome.safeParse(parseJson(content)).data
  if (outcome === undefined || outcome.success)
    return { output: content, error: null, status: 'completed' }
  return { output: null, error: outcome.error ?? 'The tool failed.', status: 'failed' }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The item of a step that has just begun. */
export function beginItem(
  run: Pick<RunRow, 'id'>,
  step: { type: 'text'; index: number } | { type: 'thinking'; index: number } | CallStep,
  clientTools: ReadonlySet<string>,
): OutputItem {
  const idOf = (prefix: string) => `${prefix}_${run.id}_${step.index}`
  if (step.type === 'thinking')
    return { type: 'reasoning', id: idOf('rs'), summary: [], status: 'in_progress' }
  if (step.type === 'text')
    return {
      type: 'message',
      id: idOf('msg'),
      role: 'assistant',
      status: 'in_progress',
      content: [],
    }
  const { name } = step
  if (clientTools.has(name))
    return {
      type: 'function_call',
      id: idOf('fc'),
      call_id: clientCallId(run.id, step.id_ref),
      name,
      arguments: '',
      status: 'in_progress',
    }
  return {
    type: 'mcp_call',
    id: idOf('mcp'),
    server_label: SERVER_LABEL,
    name,
    arguments: '',
    output: null,
    error: null,
    status: 'in_progress',
  }
}

/** A text as the Responses API presents it. */
export const textPart = (text: string) => ({
  type: 'output_text' as const,
  text,
  annotations: [],
  logprobs: [],
})

/** An item with all of its text. */
export function withText(item: OutputItem, text: string): OutputItem {
  switch (item.type) {
    case 'reasoning':
      return { ...item, summary: [{ type: 'summary_text', text }], status: 'completed' }
    case 'message':
      return { ...item, content: [textPart(text)], status: 'completed' }
    case 'function_call':
      return { ...item, arguments: text, status: 'completed' }
    case 'mcp_call':
      return { ...item, arguments: text }
  }
}

/** The output of a run, from its stored steps. */
export function outputOf(
  run: Pick<RunRow, 'id'>,
  steps: readonly Step[],
  clientTools: ReadonlySet<string>,
): OutputItem[] {
  const results = new Map(
    steps.flatMap((step) => (step.type === 'tool_result' ? [[step.id_ref, step] as const] : [])),
  )
  return steps.flatMap((step): OutputItem[] => {
    if (step.type === 'tool_result') return []
    const text = step.type === 'tool_call' ? step.arguments : step.content
    const item = withText(beginItem(run, step, clientTools), text)
    if (item.type !== 'mcp_call' || step.type !== 'tool_call') return [item]
    const result = results.get(step.id_ref)
    return [{ ...item, ...(result === undefined ? {} : outcomeOf(result.content)) }]
  })
}

/** Reads the id of an item; null for ids from elsewhere. */
export function readItemId(id: string): { runId: RunId; index: number } | null {
  const [, run, index] = /^[a-z]+_([\da-f-]{36})_(\d{1,6})$/.exec(id) ?? []
  return run === undefined ? null : { runId: RunId.parse(run), index: Number(index) }
}

/** The entries in a conversation that a reference to a step of an earlier run stands for. */
export function entriesOfStep(runId: RunId, step: Step, steps: readonly Step[]): PastEntry[] {
  if (step.type === 'text') return [{ kind: 'answer', text: step.content }]
  if (step.type !== 'tool_call') return []
  const id = clientCallId(runId, step.id_ref)
  const { name, arguments: text } = step
  const result = steps.find((one) => one.type === 'tool_result' && one.id_ref === step.id_ref)
  return [
    { kind: 'call', id, name, arguments: text },
    ...(result?.type === 'tool_result'
      ? [{ kind: 'result' as const, id, text: result.content }]
      : []),
  ]
}
