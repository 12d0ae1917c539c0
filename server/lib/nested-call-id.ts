// Ids of the tool calls that sub-agents make: unique within the run and stable across restarts.
import { createHash } from 'node:crypto'

/** Longer parent ids are replaced by a digest, because the length of ids is limited. */
const MAX_PARENT_CHARACTERS = 150

/** The prefix shared by the ids of all calls that sub-agents make within the call `callId`. */
export const nestedPrefix = (callId: string): string =>
  `${callId.length <= MAX_PARENT_CHARACTERS ? callId : createHash('sha256').update(callId).digest('hex')}~`

/**
 * The id under which a person approves a sub-agent's call. The model's own id cannot serve: models reuse ids, and this
 * one must be unique within the run and the same after a restart.
 * @param position zero-based index of the sub-agent within the call.
 * @param number zero-based index of the call within the sub-agent.
 */
export const nestedCallId = (callId: string, position: number, number: number): string =>
  `${nestedPrefix(callId)}${position + 1}.${number + 1}`
