// Ids of the tool calls that sub-agents make, unique within the run and the same after a restart.
import { createHash } from 'node:crypto'
import { CallId } from '../protocol/ids.ts'

/** Longer call ids are replaced by a digest, because ids are bounded. */
const MAX_PARENT_CHARACTERS = 150

/** The beginning that the ids of all calls within one call of the run's own have in common. */
export const nestedPrefix = (callId: string): string =>
  `${callId.length <= MAX_PARENT_CHARACTERS ? callId : createHash('sha256').update(callId).digest('hex')}~`

/**
 * Under which id a person decides on a sub-agent's call: the same after a restart, and never that of another call, as
 * models give the same ids again and again.
 */
export const nestedCallId = (callId: string, position: number, number: number): CallId =>
  CallId.parse(`${nestedPrefix(callId)}${position + 1}.${number + 1}`)
