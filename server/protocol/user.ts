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
  registration: z.enum(['open', 'closed']),
  /** There is no account yet: the first person to register becomes administrator, regardless of `registration`. */
  first_user: z.literal(true).optional(),
})

export const RegisterBody = z
  .object({ username: Username, password: Password, email: optional(Email) })
  .meta({ id: 'Register' })
export const LoginBody = z
  .object({ username: z.string().min(1).max(255), password: z.string().min(1).max(200) })
  .meta({ id: 'Login' })
export const SignedIn = z.object({ token: z.string(), user: User })

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
