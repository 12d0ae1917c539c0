// Invitations to register on the wire.
import { z } from 'zod'
import { PatchQuota, Quota } from '../accounts/quota.ts'
import { optional, Timestamp } from '../envelope.ts'
import { UserId } from '../ids.ts'
import { GroupId } from './group.ts'

/** A link for registering, as administrators see it. The link itself is shown only once. */
export const Invitation = z
  .object({
    id: z.string(),
    role: z.enum(['admin', 'user']),
    /** The account's own limits; null for each limit that it does not get. */
    quota: Quota,
    /** The group that the account joins. */
    group: z.object({ id: GroupId, name: z.string() }).nullable(),
    note: z.string().nullable(),
    created_at: Timestamp,
    expires_at: Timestamp,
    used_at: Timestamp.nullable(),
    /** The account that was created with it; null if it is unused. */
    user_id: UserId.nullable(),
  })
  .meta({ id: 'Invitation' })
export type Invitation = z.infer<typeof Invitation>

export const CreateInvitationBody = z
  .strictObject({
    role: z.enum(['admin', 'user']).default('user'),
    /** Limits of the account that it creates. */
    quota: optional(PatchQuota),
    /** The group that the account joins. */
    group_id: optional(GroupId),
    /** A note for administrators, for example who the invitation is for. */
    note: optional(z.string().trim().max(200)),
    expires_in_hours: z
      .number()
      .min(1)
      .max(24 * 90)
      .default(24 * 7),
  })
  .meta({ id: 'CreateInvitation' })

/** The only responses that ever contain the token of a link. */
export const CreatedInvitation = Invitation.extend({ token: z.string(), url: z.string() }).meta({
  id: 'CreatedInvitation',
})
