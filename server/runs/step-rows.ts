// Tool calls and their results as rows of the store and as steps on the wire.

import type { NewStep } from '../db/repositories/conversations/steps.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { ToolCall } from '../llm/client.ts'
import { type Step, stepId } from '../protocol/runs/step.ts'
import type { CallResult } from '../tools/tool-result.ts'

type MessageId = RunRow['messageId']

/** @param firstEvent the id of the event that will emit the call. */
export const callRow = (
  messageId: MessageId,
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

/** A tool call as a step. */
export const callStep = (index: number, call: ToolCall): Step => ({
  id: stepId(index),
  index,
  type: 'tool_call',
  id_ref: call.id,
  name: call.name,
  arguments: call.arguments,
})

/** The row has no event id: results are stored before their order of emission is known. */
export const resultRow = (messageId: MessageId, position: number, result: CallResult): NewStep => ({
  messageId,
  position,
  type: 'tool_result',
  content: result.content,
  idRef: result.call.id,
  name: result.call.name,
  skipped: result.skipped,
  artifact: result.artifact ?? null,
  closed: true,
})

/** A tool result as a step. */
export const resultStep = (index: number, result: CallResult): Step => ({
  id: stepId(index),
  index,
  type: 'tool_result',
  id_ref: result.call.id,
  name: result.call.name,
  content: result.content,
  skipped: result.skipped,
  ...(result.artifact === undefined ? {} : { artifact: result.artifact }),
})
