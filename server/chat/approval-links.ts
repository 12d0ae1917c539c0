// Links with which a person decides one tool call from anywhere: made for a request, opened, and used.

import type { ApprovalLinkRow } from '../db/repositories/runs/approval-links.ts'
import type { ListedRequest } from '../db/repositories/runs/request-list.ts'
import { AppError, appError } from '../errors.ts'
import { hashLinkToken, newLinkToken } from '../lib/link-token.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { ErrorCode } from '../protocol/error.ts'
import { CallId, type UserId } from '../protocol/ids.ts'
import type { LinkDecisionBody, MayApprove } from '../protocol/runs/approval-link.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import { waitsForOthers } from '../runs/requests.ts'
import type { decide } from './decide.ts'

/** Maximum number of links of one request that are open at the same time. */
const MAX_OPEN = 10
/** Ended links are known for this time, so that opening one does not count as a guess. */
const KNOWN_MS = 30 * 86_400_000
/** Errors of a decision that a link does not tell apart: its request no longer waits for it. */
const ENDED: readonly ErrorCode[] = ['already_decided', 'approval_changed', 'not_found']

type Dependencies = Pick<ChatDependencies, 'store' | 'database' | 'now' | 'settings'>

/** An open link with the request that it decides. */
export interface OpenLink {
  link: ApprovalLinkRow
  request: ListedRequest & { type: 'approval' }
}

/** Who uses a link. */
export interface LinkUser {
  /** The account of the sender's session; null without one. Everybody in single mode is its one user. */
  sessionUser: { id: UserId; username: string } | null
  address: string
}

/**
 * Makes a link for an approval request that the user may decide, with its audit entry. Its token cannot be read later.
 * @throws AppError `approval_unknown`, `call_decided`, `question_has_no_link`, `someone_else_must_decide`,
 * `approval_links_exhausted`.
 */
export async function createApprovalLink(
  { userId, id, lifetimeSeconds }: { userId: UserId; id: string; lifetimeSeconds: number },
  actor: Actor,
  { store, database, now }: Dependencies,
): Promise<{ token: string; expiresAt: Date }> {
  const found = await store.requests.find(userId, id)
  if (found === undefined) throw appError('approval_unknown')
  if (found.type === 'input') throw appError('question_has_no_link')
  const { request } = found
  if (request.status !== 'pending' || found.endedAt !== null) throw appError('call_decided')
  // Its bearer would decide in the name of its maker.
  if (found.person === null && (await waitsForOthers(found, request, store)))
    throw appError('someone_else_must_decide')
  const token = newLinkToken()
  const createdAt = now()
  const expiresAt = new Date(createdAt.getTime() + lifetimeSeconds * 1_000)
  await database.write(async (tx) => {
    const isStored = await store.approvalLinks.insert(
      tx,
      {
        hash: hashLinkToken(token),
        runId: request.runId,
        approvalId: request.id,
        userId,
        callHash: request.callHash,
        createdAt,
        expiresAt,
      },
      { atMost: MAX_OPEN, forgetBefore: new Date(createdAt.getTime() - KNOWN_MS) },
    )
    if (!isStored) throw appError('approval_links_exhausted', { limit: MAX_OPEN })
    await store.audit.record(tx, actor, {
      action: 'approval_link_created',
      at: createdAt,
      details: {
        id: request.runId,
        id_ref: request.idRef,
        approval_id: request.id,
        tool: request.name,
        expires_at: expiresAt.toISOString(),
      },
    })
  })
  return { token, expiresAt }
}

/**
 * Reads what a link decides. Changes nothing.
 * @returns undefined for a token that was never given out, or is long forgotten.
 * @throws AppError `link_gone` for one that has expired or is spent.
 */
export async function openApprovalLink(
  token: string,
  { store, now }: Dependencies,
): Promise<OpenLink | undefined> {
  const link = await store.approvalLinks.find(hashLinkToken(token))
  if (link === undefined) return undefined
  const request = await store.requests.find(link.userId, link.approvalId)
  const isOpen =
    request?.type === 'approval' &&
    link.expiresAt > now() &&
    request.request.status === 'pending' &&
    request.endedAt === null
  if (!isOpen) throw appError('link_gone')
  return { link, request }
}

/** Whether the sender can approve with the link; everybody who has it can reject. */
export function mayApprove(
  { link, request: { request } }: OpenLink,
  { sessionUser }: Pick<LinkUser, 'sessionUser'>,
  { settings }: Pick<Dependencies, 'settings'>,
): MayApprove {
  if (request.riskLevel === 'high' && !settings.approvalLinkHigh) return 'open_the_page'
  return sessionUser?.id === link.userId ? 'yes' : 'sign_in_required'
}

/**
 * Decides the request of a link: rejects for whoever has it, approves for its user alone.
 * @param by how a decision of the link's user is stored and carried out.
 * @throws AppError `sign_in_required`, `open_the_page`; `link_gone` if the request no longer waits.
 */
export async function decideByLink(
  open: OpenLink,
  { decision, reason }: LinkDecisionBody,
  user: LinkUser,
  dependencies: Dependencies & { decide: OmitDependencies<typeof decide> },
): Promise<void> {
  const { link, request } = open
  if (decision === 'approve') {
    if (user.sessionUser?.id !== link.userId) throw appError('sign_in_required')
    if (mayApprove(open, user, dependencies) !== 'yes') throw appError('open_the_page')
  }
  const actor: Actor = {
    userId: link.userId,
    username: user.sessionUser?.id === link.userId ? user.sessionUser.username : null,
    address: user.address,
    details: { by: 'link', signed_in: user.sessionUser?.id === link.userId },
  }
  const body = {
    id_ref: CallId.parse(request.request.idRef),
    decision,
    call_hash: link.callHash,
    reason,
    arguments: undefined,
    remember: undefined,
    grant: undefined,
  }
  try {
    await dependencies.decide({ userId: link.userId, runId: link.runId }, body, actor)
  } catch (error) {
    if (error instanceof AppError && ENDED.includes(error.code)) throw appError('link_gone')
    throw error
  }
}

type OmitDependencies<Act extends (...given: never[]) => unknown> =
  Parameters<Act> extends [infer Target, infer Body, infer By, unknown]
    ? (target: Target, body: Body, actor: By) => ReturnType<Act>
    : never
