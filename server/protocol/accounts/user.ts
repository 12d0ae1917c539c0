// Accounts on the wire.
import { z } from 'zod'
import { Deleted, optional, Timestamp } from '../envelope.ts'
import { UserId } from '../ids.ts'
import { PASSWORD_LENGTH } from './password-length.ts'

export const Username = z
  .string()
  .trim()
  .min(2)
  .max(50)
  .regex(/^[\p{L}\p{N}_.@-]+$/u, { error: 'only letters, digits and _ . @ -' })
export const Password = z.string().min(PASSWORD_LENGTH.min).max(PASSWORD_LENGTH.max)
export const Email = z.email().max(255)

/** The token of a link: the part after `#` in its URL. */
export const LinkToken = z.string().min(1).max(100)
/** The link to look at or to use. */
export const LinkBody = z.object({ link: LinkToken }).meta({ id: 'Link' })

/**
 * Pages send `true`: the token is then valid for minutes, and a cookie that scripts cannot read renews it. Programs omit it
 * and receive a token that is valid for seven days.
 */
const WantsCookie = optional(z.boolean())

/** An account as its owner and administrators see it. */
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

/** How accounts work on this server, for the sign-in page. */
export const AuthMode = z
  .object({
    mode: z.enum(['single', 'multi']),
    registration: z.enum(['open', 'invite', 'closed']),
    /** The name of the single sign-on; absent if there is none. */
    oidc: z.string().optional(),
    /** Present if passkeys work at the address of this request. */
    passkeys: z.literal(true).optional(),
    /** Present if this server can send links by email, to reset a password or confirm an address. */
    mail: z.literal(true).optional(),
    /** Present if passwords are switched off, except for the emergency account. */
    password_off: z.literal(true).optional(),
    /** Present if there is no account yet, and this client may create the first one, which becomes the administrator's. */
    first_user: z.literal(true).optional(),
    /** Present if there is no account yet, and creating one requires the set-up link that the server printed at its start. */
    setup_link: z.literal(true).optional(),
  })
  .meta({ id: 'AuthMode' })

export const RegisterBody = z
  .object({
    username: Username,
    password: Password,
    email: optional(Email),
    /** The token of an invitation or of the setup link. */
    link: optional(LinkToken),
    cookie: WantsCookie,
  })
  .meta({ id: 'Register' })
export const LoginBody = z
  .object({
    username: z.string().min(1).max(255),
    password: z.string().min(1).max(200),
    cookie: WantsCookie,
  })
  .meta({ id: 'Login' })
/** A new session and its account. */
export const SignedIn = z
  .object({
    token: z.string(),
    /** Seconds until the token expires. */
    expires_in: z.int(),
    user: User,
  })
  .meta({ id: 'SignedIn' })

/** `url`: where the browser ends the session at the issuer of single sign-on. */
export const SignedOut = Deleted.extend({ data: z.object({ url: z.string() }).optional() }).meta({
  id: 'SignedOut',
})

/** A device or program in which the user is signed in. */
export const Session = z
  .object({
    id: z.string(),
    /** `page`: its cookie renews it; `token`: one token until it expires. */
    kind: z.enum(['page', 'token']),
    user_agent: z.string(),
    address: z.string(),
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
    /** Whether it is the session of this request. */
    current: z.boolean(),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

/** What a one-time link is for. */
export const AccountLink = z
  .object({
    kind: z.enum(['setup', 'invitation', 'reset', 'confirmation']),
    /** The role of the account that the link creates; null for other links. */
    role: z.enum(['admin', 'user']).nullable(),
    /** The account whose password the link resets; null for other links. */
    username: z.string().nullable(),
    /** The email address that it confirms. */
    address: z.string().nullable().optional(),
    /** Null if the link works until the first account exists. */
    expires_at: Timestamp.nullable(),
  })
  .meta({ id: 'AccountLink' })
export type AccountLink = z.infer<typeof AccountLink>

export const ForgottenPasswordBody = z.object({ email: Email }).meta({ id: 'ForgottenPassword' })
/** Without an address, the account's own is confirmed. */
export const ConfirmationBody = z.object({ address: optional(Email) }).meta({ id: 'Confirmation' })
/** The email address of an account, and whether its owner has confirmed it. */
export const ConfirmationState = z
  .object({
    address: z.string().nullable(),
    is_confirmed: z.boolean(),
  })
  .meta({ id: 'ConfirmationState' })

export const ResetPasswordBody = z
  .object({
    link: LinkToken,
    password: Password,
    revoke_keys: optional(z.boolean()),
    cookie: WantsCookie,
  })
  .meta({ id: 'ResetPassword' })

/** A link with which the owner of an account chooses a new password. */
export const CreatedResetLink = z
  .object({
    token: z.string(),
    url: z.string(),
    expires_at: Timestamp,
  })
  .meta({ id: 'CreatedResetLink' })

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

/**
 * What an API key may do. `read`: GET requests under `/api`; `api`: everything under `/api` except administration; `admin`:
 * administration, too; `v1`, `mcp`: the interfaces at these paths.
 */
export const ApiKeyScope = z.enum(['read', 'api', 'admin', 'v1', 'mcp'])
export type ApiKeyScope = z.infer<typeof ApiKeyScope>

/** Whether an answer for a program uses none of the tools of the server (`plain`), or all that the user may use (`tools`). */
export const ProgramTools = z.enum(['plain', 'tools'])
export type ProgramTools = z.infer<typeof ProgramTools>

export const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    /** The first characters, by which the user recognizes the key. */
    prefix: z.string(),
    /** Null: everything that the owner may do, except creating keys and managing sessions and the password. */
    scopes: z.array(ApiKeyScope).nullable(),
    /** For requests under `/v1` that do not say it themselves; null: tools, unless the program brings its own. */
    program_tools: ProgramTools.nullable(),
    created_at: Timestamp,
    expires_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' })
/** Unknown fields are refused, because a key whose scopes are misspelled would permit everything. */
export const CreateApiKeyBody = z
  .strictObject({
    name: z.string().trim().min(1).max(100),
    scopes: optional(z.array(ApiKeyScope).min(1).max(ApiKeyScope.options.length)),
    program_tools: optional(ProgramTools),
    expires_at: optional(Timestamp),
  })
  .meta({ id: 'CreateApiKey' })
/** The only response that ever contains the key itself. */
export const CreatedApiKey = ApiKey.extend({ key: z.string() }).meta({ id: 'CreatedApiKey' })
