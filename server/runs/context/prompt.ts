// Decides what a run adds to the prompt of its conversation, so that its requests begin with the same bytes as earlier
// ones.

import { contextNote } from '../../agent/system-prompt.ts'
import type { HistoryMessage } from '../../db/repositories/conversations/branch-history.ts'
import { oncePer } from '../../lib/once-per.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { MemorySection } from '../dependencies.ts'
import { type RunPrompt, type RunState, readRunState } from '../state.ts'

/** After this much silence, no provider still caches the conversation. */
const COLD_MS = 30 * 60 * 1_000

/** A run that wrote an answer of the branch. */
export interface EarlierRun {
  state: Readonly<RunState>
  endedAt: Date | null
}

type Answer = Pick<HistoryMessage, 'runId' | 'runState' | 'runEndedAt'>

const runOf = oncePer(
  ({ runState, runEndedAt }: Answer): EarlierRun => ({
    state: readRunState(runState),
    endedAt: runEndedAt,
  }),
)

/** The runs of the branch's answers, by id. */
export const earlierRuns = (branch: readonly Answer[]): ReadonlyMap<RunId, EarlierRun> =>
  new Map(
    branch.flatMap((message): [RunId, EarlierRun][] =>
      message.runId === null ? [] : [[message.runId, runOf(message)]],
    ),
  )

/** The memory in the system prompt, as the run that last read it stored it; undefined if none did. */
export const memoryOf = (earlier: readonly EarlierRun[]): string | undefined =>
  earlier.findLast(({ state }) => state.prompt?.memory !== undefined)?.state.prompt?.memory

/**
 * What a new run adds. The memory in the system prompt stays unchanged; new facts go before the question. The memory is
 * read again at the beginning of a conversation, after the turn that read it was replaced by a summary, and after half an
 * hour of silence.
 * @param earlier the runs of the branch, oldest first.
 * @param now what there is to add. `apps`: what apps of MCP servers say about their state. `skills`: the instructions that the message asks for; they stand right before it.
 */
export function nextPrompt(
  earlier: readonly EarlierRun[],
  now: { memory: MemorySection; listing: string; skills?: string; apps?: string; time: Date },
): RunPrompt {
  const before = earlier.flatMap(({ state }) => state.prompt ?? [])
  const known = memoryOf(earlier)
  const lastEnd = earlier.at(-1)?.endedAt ?? null
  const isCold = lastEnd === null || now.time.getTime() - lastEnd.getTime() > COLD_MS
  const isReadAnew = known === undefined || isCold
  const notes = before.map(({ note }) => note ?? '').join('\n')
  const news = isReadAnew ? [] : linesBeyond(now.memory.trusted, `${known}\n${notes}`)
  const [heading = '', ...facts] = now.memory.outside.split('\n')
  const outside = linesBeyond(facts.join('\n'), notes)
  const lastListing = before.findLast(({ listing }) => listing !== undefined)?.listing ?? ''
  const hasNewListing = now.listing !== lastListing
  const { apps = '' } = now
  const hasNewApps = apps !== (before.findLast((one) => one.apps !== undefined)?.apps ?? '')
  const note = [
    news.length === 0 ? '' : `Also known about the user:\n${news.join('\n')}`,
    contextNote([
      hasNewListing ? now.listing : '',
      outside.length === 0 ? '' : [heading, ...outside].join('\n'),
      hasNewApps ? apps : '',
    ]) ?? '',
    now.skills ?? '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
  return {
    ...(isReadAnew ? { memory: now.memory.trusted } : {}),
    ...(hasNewListing ? { listing: now.listing } : {}),
    ...(note === '' ? {} : { note }),
    ...(hasNewApps ? { apps } : {}),
    outside: outside.length > 0 || (hasNewApps && apps !== ''),
  }
}

/** The lines of `text` that are not in `seen`. */
function linesBeyond(text: string, seen: string): string[] {
  const lines = new Set(seen.split('\n'))
  return text.split('\n').filter((line) => line.trim() !== '' && !lines.has(line))
}
