// The output items of a response, from the steps of its run. An item's id names its run and its step.
import { z } from 'zod'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { RunId } from '../protocol/ids.ts'
import type { OutputItem } from '../protocol/openai/responses.ts'
import type { Step } from '../protocol/runs/step.ts'
import { readRunOptions } from '../runs/state.ts'
import { clientCallId } from './names.ts'
import { customInput } from './offered-tools.ts'
import type { PastEntry } from './past.ts'
import { type ClientTools, clientToolsOf } from './run-text.ts'

const SERVER_LABEL = 'nanoclaw'

type CallStep = Extract<Step, { type: 'tool_call' }>

/** The fields of a tool result's text that state its outcome. */
const ToolOutcome = z.object({ success: z.boolean(), error: z.string().optional() })

/** The outcome of a server tool for its item. */
function outcomeOf(
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

/** An item of a call of a tool of the server, with its result; other items stay as they are. */
export function withResult(item: OutputItem, content: string): OutputItem {
  if (item.type === 'mcp_call') return { ...item, ...outcomeOf(content) }
  return item.type === 'web_search_call' ? { ...item, status: outcomeOf(content).status } : item
}

/** What decides the form of a call: the program's tools, and whether it asked for a web search. */
export interface ItemForms {
  clientTools: ClientTools
  searchesWeb: boolean
}

/** Reads it from the run. */
export const itemFormsOf = (run: Pick<RunRow, 'options'>): ItemForms => ({
  clientTools: clientToolsOf(run),
  searchesWeb: readRunOptions(run.options).searchesWeb ?? false,
})

type WebAction = Extract<OutputItem, { type: 'web_search_call' }>['action']

/** What of a web search a call of a tool of the server is; null if it is none. */
function webActionOf({ name, arguments: text }: CallStep): WebAction | null {
  const { query, url } = Object(parseJson(text))
  if (name === 'web_search' && typeof query === 'string')
    return { type: 'search', query, queries: [query] }
  return name === 'fetch_page' && typeof url === 'string' ? { type: 'open_page', url } : null
}

/** The item of a step that has just begun. */
export function beginItem(
  run: Pick<RunRow, 'id'>,
  step: { type: 'text'; index: number } | { type: 'thinking'; index: number } | CallStep,
  { clientTools, searchesWeb }: ItemForms,
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
  const tool = clientTools.get(step.name)
  const { name = step.name, namespace, isCustom = false } = tool?.offeredAs ?? {}
  const called = {
    call_id: clientCallId(run.id, step.id_ref),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    status: 'in_progress' as const,
  }
  if (tool !== undefined)
    return isCustom
      ? { type: 'custom_tool_call', id: idOf('ctc'), ...called, input: '' }
      : { type: 'function_call', id: idOf('fc'), ...called, arguments: '' }
  const action = searchesWeb ? webActionOf(step) : null
  if (action !== null)
    return { type: 'web_search_call', id: idOf('ws'), status: 'in_progress', action }
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
    case 'custom_tool_call':
      return { ...item, input: customInput(text), status: 'completed' }
    case 'mcp_call':
      return { ...item, arguments: text }
    case 'web_search_call':
      return item
  }
}

/** The output of a run, from its stored steps. */
export function outputOf(
  run: Pick<RunRow, 'id'>,
  steps: readonly Step[],
  forms: ItemForms,
): OutputItem[] {
  const results = new Map(
    steps.flatMap((step) => (step.type === 'tool_result' ? [[step.id_ref, step] as const] : [])),
  )
  return steps.flatMap((step): OutputItem[] => {
    if (step.type === 'tool_result') return []
    const text = step.type === 'tool_call' ? step.arguments : step.content
    const item = withText(beginItem(run, step, forms), text)
    const result = step.type === 'tool_call' ? results.get(step.id_ref) : undefined
    return [result === undefined ? item : withResult(item, result.content)]
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
