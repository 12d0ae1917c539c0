// A person stores a grant: it is checked and replayed over their earlier decisions, and stored with its audit entry.
import type { Database, Writer } from '../db/database.ts'
import type { GrantRow } from '../db/repositories/runs/grants.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'
import type {
  CreateGrantBody,
  GrantMatch,
  GrantPreview,
  PreviewGrantBody,
} from '../protocol/runs/grant.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import { checkMatch } from './check-match.ts'
import { findPlace, type GrantPlace, scopeOf, toolPrintOf } from './covering.ts'
import { checkedArguments, type Replay, replayMatch, suggestMatch } from './replay.ts'

/** Maximum number of grants of a user. */
const MAX_GRANTS = 1_000

/** What the acts of grants need. */
export interface GrantDependencies {
  store: Store
  database: Database
  registry: ToolRegistry
  /** Notifies the user's open pages. Call it after the commit. */
  announce(userId: UserId, change: Change): void
  now(): Date
}

/** A checked grant that can be stored. */
export interface NewGrant {
  row: GrantRow
  place: GrantPlace
}

/**
 * Stores a grant of the user.
 * @throws AppError what `prepareGrant` and `storeGrant` throw.
 */
export async function createGrant(
  userId: UserId,
  body: CreateGrantBody,
  actor: Actor,
  dependencies: GrantDependencies,
): Promise<NewGrant> {
  const grant = await prepareGrant(userId, body, dependencies)
  await dependencies.database.write((tx) => storeGrant(tx, grant, actor, dependencies))
  announceGrant(grant.row, 'created', dependencies)
  return grant
}

/**
 * Checks a grant without storing anything.
 * @throws AppError if its place, tool or match is not allowed, and `grant_allows_rejected` with samples in `details` if it
 * would have allowed a call that the user rejected, unless the body says `anyway`.
 */
export async function prepareGrant(
  userId: UserId,
  body: CreateGrantBody,
  dependencies: GrantDependencies,
): Promise<NewGrant> {
  const { store, now } = dependencies
  const replay = await replayOf(userId, body, dependencies)
  const { tool, place, evenTainted } = replay
  const createdFrom = body.approval_id ?? null
  if (createdFrom !== null) await findRequest(userId, createdFrom, tool, store)
  const { would_allow, samples } = await checkAndReplay(replay, body.match)
  if (would_allow.rejected > 0 && body.anyway !== true)
    throw appError('grant_allows_rejected', {}, { details: { would_allow, samples } })
  const row: GrantRow = {
    id: newId(),
    userId,
    conversationId: 'conversationId' in place ? place.conversationId : null,
    projectId: 'projectId' in place ? place.projectId : null,
    scheduleId: 'scheduleId' in place ? place.scheduleId : null,
    runId: null,
    tool: tool.name,
    toolPrint: toolPrintOf(tool),
    match: body.match,
    evenTainted,
    expiresAt: body.expires_at === undefined ? null : new Date(body.expires_at),
    maxUses: body.max_uses ?? null,
    uses: 0,
    lastUsedAt: null,
    createdAt: now(),
    createdFrom,
  }
  return { row, place }
}

/** Stores a checked grant with its audit entry. @throws AppError `grants_exhausted`. */
export async function storeGrant(
  tx: Writer,
  { row }: NewGrant,
  actor: Actor,
  { store }: Pick<GrantDependencies, 'store'>,
): Promise<void> {
  if ((await store.grants.count(tx, row.userId)) >= MAX_GRANTS)
    throw appError('grants_exhausted', { limit: MAX_GRANTS })
  await store.grants.insert(tx, row)
  await store.audit.record(tx, actor, {
    action: 'grant_created',
    at: row.createdAt,
    details: auditedGrant(row),
  })
}

/** Maximum characters of a match in the audit log. */
const MAX_AUDITED_CHARACTERS = 2_000

/** What the audit log says about a grant. */
export const auditedGrant = (row: GrantRow) => ({
  id: row.id,
  tool: row.tool,
  ...scopeOf(row),
  match: JSON.stringify(row.match).slice(0, MAX_AUDITED_CHARACTERS),
  even_tainted: row.evenTainted,
})

/** Notifies the user's open pages. Call it after the commit. */
export const announceGrant = (
  { id, userId }: Pick<GrantRow, 'id' | 'userId'>,
  change: Change['change'],
  { announce }: Pick<GrantDependencies, 'announce'>,
): void => announce(userId, { type: 'grant', id, change })

/** Replays a grant over the user's decisions, and suggests a match; stores nothing. @throws AppError as `prepareGrant`. */
export async function previewGrant(
  userId: UserId,
  body: PreviewGrantBody,
  dependencies: GrantDependencies,
): Promise<GrantPreview> {
  const replay = await replayOf(userId, body, dependencies)
  const suggested =
    body.approval_id === undefined
      ? undefined
      : await suggestedFor(userId, body.approval_id, replay, dependencies)
  const match = body.match ?? suggested
  if (match === undefined) throw appError('grant_match_missing')
  const replayed = await checkAndReplay(replay, match)
  return suggested === undefined ? replayed : { ...replayed, suggested }
}

async function replayOf(
  userId: UserId,
  body: PreviewGrantBody,
  { store, registry, now }: GrantDependencies,
): Promise<Replay> {
  if (body.expires_at !== undefined && new Date(body.expires_at) <= now())
    throw appError('grant_expires_too_early')
  const place = await findPlace(userId, body, store)
  const tool = registry.snapshot(userId).get(body.tool)
  if (tool === undefined) throw appError('grant_tool_unknown', { tool: body.tool })
  return { userId, tool, place, evenTainted: body.even_tainted ?? false, store, now }
}

async function checkAndReplay(
  replay: Replay,
  match: GrantMatch,
): Promise<Omit<GrantPreview, 'suggested'>> {
  checkMatch(replay.tool, match, replay)
  return await replayMatch(replay, match)
}

async function suggestedFor(
  userId: UserId,
  id: string,
  replay: Replay,
  { store }: Pick<GrantDependencies, 'store'>,
): Promise<GrantMatch | undefined> {
  const { runId, idRef } = await findRequest(userId, id, replay.tool, store)
  const request = await store.runs.approval(runId, idRef)
  if (request === undefined) throw appError('approval_unknown')
  const value = checkedArguments(replay.tool, request)
  return value === undefined ? undefined : await suggestMatch(replay, { ...request, value })
}

/** The user's request for a call of the tool. @throws AppError `approval_unknown` or `grant_other_tool`. */
async function findRequest(
  userId: UserId,
  id: string,
  tool: ToolDefinition,
  store: Pick<Store, 'requests'>,
) {
  const found = await store.requests.find(userId, id)
  // A grant is for the user's own runs.
  if (found?.type !== 'approval' || found.person !== null) throw appError('approval_unknown')
  const { request } = found
  if (request.name !== tool.name && !tool.aliases.includes(request.name))
    throw appError('grant_other_tool', { tool: request.name })
  return request
}
