// Tells people of a request that nobody has decided: through what each chose, when they chose, each once.

import type { Store } from '../db/store.ts'
import { passed } from '../lib/clocks.ts'
import type { AskEntry } from '../protocol/accounts/preferences.ts'
import type { UserId } from '../protocol/ids.ts'
import { isUnattended, PAGE_ORIGIN, type RunOrigin } from '../protocol/runs/origin.ts'
import type { ChatDependencies } from './dependencies.ts'
import type { RunLog } from './log/log.ts'
import type { RunFrame } from './performed-run.ts'
import type { TellWaiting, ToldRequest, WaitingRun } from './told-request.ts'

/** A page that is loaded again, or connects again after a restart of the server, is away for a moment. */
const AWAY_MS = 1_000

/** Where the request waits. */
interface Site {
  run: WaitingRun
  runLog: Pick<RunLog, 'pageCount' | 'onListenersChange'>
  /** Undefined for runs from before it was stored. */
  origin: RunOrigin | undefined
  /** Aborts when the request no longer waits. */
  signal: AbortSignal
}

/** `retry`: a request waits much longer than the store is unavailable. */
type TellingDependencies = Pick<ChatDependencies, 'now' | 'log' | 'tell'> &
  Pick<RunFrame, 'retry'> & {
    store: {
      settings: { preferences(userId: UserId): Promise<{ ask: AskEntry[] }> }
      requestNotices: Pick<Store['requestNotices'], 'claim'>
      approvers: Pick<Store['approvers'], 'people'>
    }
  }

/** `tellInTurn` of a run whose origin and dependencies are known. */
export type TellRequest = (request: ToldRequest, site: Omit<Site, 'origin'>) => Promise<void>

/**
 * Uses each entry of the user's list `ask` when the request has waited that long. While a page of the user follows an attended
 * run, the entries wait until the last one has left. A call is also told to the approvers of the project, by their own lists.
 * Resolves when all are used or the signal aborts; never rejects.
 */
export async function tellInTurn(
  request: ToldRequest,
  site: Site,
  dependencies: TellingDependencies,
): Promise<void> {
  const { tell, store, log, retry } = dependencies
  if (tell === undefined) return
  const { run } = site
  const tellReader = async (reader: UserId): Promise<void> => {
    try {
      const { ask } = await retry(() => store.settings.preferences(reader))
      await Promise.all(
        ask.map((entry) =>
          useEntry(entry, request, { ...site, reader }, { ...dependencies, tell }),
        ),
      )
    } catch (error) {
      log.warn({ err: error, run_id: run.id }, 'a person could not be told of a request')
    }
  }
  const tellApprovers = async (): Promise<void> => {
    const { projectId } = run
    if (request.type !== 'approval' || projectId === null) return
    try {
      const people = await retry(() => store.approvers.people(projectId))
      await Promise.all(people.filter((id) => id !== run.userId).map(tellReader))
    } catch (error) {
      log.warn({ err: error, run_id: run.id }, 'the approvers could not be told of a request')
    }
  }
  await Promise.all([tellReader(run.userId), tellApprovers()])
}

async function useEntry(
  entry: AskEntry,
  request: ToldRequest,
  { run, runLog, origin = PAGE_ORIGIN, signal, reader }: Site & { reader: UserId },
  { store, now, tell, retry }: TellingDependencies & { tell: TellWaiting },
): Promise<void> {
  const due = new Date(request.createdAt.getTime() + entry.after * 1_000)
  if (!(await passed(due, now, signal))) return
  const { projectId } = run
  const isOwn = reader === run.userId
  // Who stopped being an approver meanwhile learns nothing.
  if (!isOwn && projectId !== null) {
    const people = await retry(() => store.approvers.people(projectId))
    if (!people.includes(reader)) return
  }
  // Approvers cannot follow the run.
  if (isOwn && !isUnattended(origin) && !(await leftAlone(runLog, now, signal))) return
  const key = `${isOwn ? '' : `${reader} `}${entry.through} ${entry.after}`
  const claimed = { ...request, runId: run.id }
  const isFirst = await retry(() => store.requestNotices.claim(claimed, key, now()))
  if (isFirst && !signal.aborted) await tell(entry, request, { run, reader }, signal)
}

/** True once no page has followed the run for a moment; false if the signal aborts first. */
async function leftAlone(
  runLog: Site['runLog'],
  now: () => Date,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    await noPage(runLog, signal)
    if (!(await passed(new Date(now().getTime() + AWAY_MS), now, signal))) return false
    if (runLog.pageCount === 0) return true
  }
}

/** Resolves when no page follows the run, or when the signal aborts. */
const noPage = (runLog: Site['runLog'], signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (runLog.pageCount > 0 && !signal.aborted) return
      endWatch()
      signal.removeEventListener('abort', look)
      resolve()
    }
    const endWatch = runLog.onListenersChange(look)
    signal.addEventListener('abort', look)
    look()
  })
