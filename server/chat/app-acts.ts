// What an app of an MCP server does in the name of the person who has it before them: calls of tools, and what it tells the model.
import { appError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { CallId, RunId, UserId } from '../protocol/ids.ts'
import type { AppCallOutcome, AppCallRequest, AppCallState, AppCalls } from '../runs/app-calls.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import { ownedRun } from './owned.ts'

/** What apps do beside the answers of a user. Every method throws an AppError for runs of others. */
export interface AppActs {
  call(userId: UserId, runId: RunId, request: AppCallRequest, actor: Actor): Promise<AppCallOutcome>
  read(userId: UserId, runId: RunId, idRef: CallId): Promise<AppCallState>
  /** Replaces what the next message tells the model of the app's state; '' removes it. */
  setContext(userId: UserId, runId: RunId, context: { appRef: CallId; text: string }): Promise<void>
  /** Aborts the calls that run. */
  close(): Promise<void>
}

interface Place {
  userId: UserId
  runId: RunId
}

type Dependencies = Pick<ChatDependencies, 'store' | 'database' | 'now'> & { appCalls: AppCalls }

export const callFromApp = async (
  { userId, runId }: Place,
  request: AppCallRequest,
  actor: Actor,
  { store, appCalls }: Dependencies,
): Promise<AppCallOutcome> =>
  await appCalls.call(await ownedRun(store, userId, runId), request, actor)

export const readAppCall = async (
  { userId, runId }: Place,
  idRef: CallId,
  { store, appCalls }: Dependencies,
): Promise<AppCallState> => await appCalls.read(await ownedRun(store, userId, runId), idRef)

export async function setAppContext(
  { userId, runId }: Place,
  { appRef, text }: { appRef: CallId; text: string },
  { store, database, now }: Dependencies,
): Promise<void> {
  const run = await ownedRun(store, userId, runId)
  const app = await store.appCalls.appOf(run, appRef)
  if (app === undefined) throw appError('mcp_app_call_unknown')
  const { server, tool } = app
  await database.write((tx) =>
    store.appCalls.setContext(tx, { runId, appRef, server, tool, text, updatedAt: now() }),
  )
}
