// Accounts on the wire.
import { z } from 'zod'
import { optional, Timestamp } from './envelope.ts'
import { UserId } from './ids.ts'

export const Username = z
  .string()
  .trim()
  .min(2)
  .max(50)
  .regex(/^[\p{L}\p{N}_.@-]+$/u, { error: 'letters, digits and _ . @ - only' })
export const Password = z.string().min(8).max(200)
export const Email = z.email().max(255)

/** The token of a link: what follows `#` in its URL. */
export const LinkToken = z.string().min(1).max(100)

export const User = z
  .object({
    id: UserId,
    username: z.string(),
    email: z.string().nullable(),
    avatar: z.string().nullable(),
    role: z.enum(['admin', 'user']),
    is_active: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'User' })
export type User = z.infer<typeof User>

export const AuthMode = z.object({
  mode: z.enum(['single', 'multi']),
  registration: z.enum(['open', 'invite', 'closed']),
  /** There is no account yet, and this client may create it, which makes it the administrator's. */
  first_user: z.literal(true).optional(),
  /** There is no account yet, and creating it takes the set-up link that the server printed when it started. */
  setup_link: z.literal(true).optional(),
})

export const RegisterBody = z
  .object({
    username: Username,
    password: Password,
    email: optional(Email),
    /** The token of an invitation or of the set-up link. */
    link: optional(LinkToken),
  })
  .meta({ id: 'Register' })
export const LoginBody = z
  .object({ username: z.string().min(1).max(255), password: z.string().min(1).max(200) })
  .meta({ id: 'Login' })
export const SignedIn = z.object({ token: z.string(), user: User })

/** What a link is for. */
export const AccountLink = z
  .object({
    kind: z.enum(['setup', 'invitation', 'reset']),
    /** The role of the account that it creates. */
    role: z.enum(['admin', 'user']).nullable(),
    /** The account whose password it resets. */
    username: z.string().nullable(),
    /** Null: works until the first account exists. */
    expires_at: Timestamp.nullable(),
  })
  .meta({ id: 'AccountLink' })
export type AccountLink = z.infer<typeof AccountLink>

export const ResetPasswordBody = z
  .object({ link: LinkToken, password: Password, revoke_keys: optional(z.boolean()) })
  .meta({ id: 'ResetPassword' })

export const Invitation = z
  .object({
    id: z.string(),
    role: z.enum(['admin', 'user']),
    note: z.string().nullable(),
    created_at: Timestamp,
    expires_at: Timestamp,
    used_at: Timestamp.nullable(),
    /** The account that it created. */
    user_id: UserId.nullable(),
  })
  .meta({ id: 'Invitation' })
export type Invitation = z.infer<typeof Invitation>

export const CreateInvitationBody = z
  .object({
    role: z.enum(['admin', 'user']).default('user'),
    /** For administrators, for example who it is for. */
    note: optional(z.string().trim().max(200)),
    expires_in_hours: z
      .number()
      .min(1)
      .max(24 * 90)
      .default(24 * 7),
  })
  .meta({ id: 'CreateInvitation' })

/** The only responses that ever contain the token of a link. */
export const CreatedInvitation = Invitation.extend({ token: z.string(), url: z.string() })
export const CreatedResetLink = z.object({
  token: z.string(),
  url: z.string(),
  expires_at: Timestamp,
})

export const PatchProfileBody = z
  .object({
    email: Email.nullish(),
    avatar: z.string().max(200_000).nullish(),
    password: optional(Password),
    current_password: optional(z.string().max(200)),
    /** With a new password: whether to revoke all API keys as well. */
    revoke_keys: optional(z.boolean()),
  })
  .meta({ id: 'PatchProfile' })

/** The account after a change. `api_keys`: the number of keys that are still valid. */
export const ChangedProfile = User.extend({ api_keys: z.int().min(0) }).meta({
  id: 'ChangedProfile',
})

export const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    /** The first characters, to recognize the key. */
    prefix: z.string(),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' })
export const CreateApiKeyBody = z.object({ name: z.string().trim().min(1).max(100) })
/** The only response that ever contains the key itself. */
export const CreatedApiKey = ApiKey.extend({ key: z.string() })
