// Which runs that have ended can be resumed. All others, and the answers they wrote, never change again.
import { and, inArray, isNotNull, ne, or, type SQL } from 'drizzle-orm'
import type { FinishReason } from '../../../protocol/runs/run-event.ts'
import type { Tables } from '../../tables.ts'

/** Finish reasons of runs that are completed but have more to do. */
const LIMITS: readonly FinishReason[] = ['length', 'max_iterations', 'budget']

type RunEnd = Pick<Tables['runs']['$inferSelect'], 'status' | 'finishReason' | 'endedAt'>

/** Whether the run has ended and can be resumed. */
export const isResumable = ({ status, finishReason, endedAt }: RunEnd): boolean =>
  endedAt !== null &&
  (status !== 'completed' || (finishReason !== null && LIMITS.includes(finishReason)))

/** `isResumable` as a condition of a statement. */
export const canResume = ({ runs }: Pick<Tables, 'runs'>): SQL | undefined =>
  and(
    isNotNull(runs.endedAt),
    or(ne(runs.status, 'completed'), inArray(runs.finishReason, [...LIMITS])),
  )
