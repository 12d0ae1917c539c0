// Links with which an approval request is decided from anywhere, on the wire.
import { z } from 'zod'
import { optional, Timestamp } from '../envelope.ts'
import { Approval } from './approval.ts'
import { ApprovalDecision } from './tool-progress.ts'

const DEFAULT_LINK_SECONDS = 3_600

/** The request body of `POST /api/approvals/:id/link`. */
export const ApprovalLinkBody = z
  .object({
    /** Seconds until the link expires. */
    expires_in: z.int().min(5).max(604_800).default(DEFAULT_LINK_SECONDS),
  })
  .meta({ id: 'ApprovalLinkBody' })

/** A new link. Its token is in `url` and is never shown again. */
export const ApprovalLink = z
  .object({ url: z.string(), expires_at: Timestamp })
  .meta({ id: 'ApprovalLink' })

/** Whether the sender can approve, or what it takes: to sign in as the link's user, or to decide on the page. */
export const MayApprove = z.enum(['yes', 'sign_in_required', 'open_the_page'])
export type MayApprove = z.infer<typeof MayApprove>

/** What `GET /a/:token` shows. Whoever has the link sees the call, but not the conversation. */
export const LinkedApproval = z
  .object({ approval: Approval, may_approve: MayApprove, expires_at: Timestamp })
  .meta({ id: 'LinkedApproval' })
export type LinkedApproval = z.infer<typeof LinkedApproval>

/** The request body of `POST /a/:token`. */
export const LinkDecisionBody = z
  .object({ decision: ApprovalDecision, reason: optional(z.string().max(2000)) })
  .meta({ id: 'LinkDecision' })
export type LinkDecisionBody = z.infer<typeof LinkDecisionBody>

/** What was decided with a link. */
export const LinkDecided = z.object({ decision: ApprovalDecision }).meta({ id: 'LinkDecided' })
