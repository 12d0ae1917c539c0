// Grants: stored permissions for tool calls that match them, so that a person is not asked again.
import { z } from 'zod'
import { optional, Timestamp } from '../envelope.ts'
import { RunId } from '../ids.ts'

/** Maximum characters of a text in a pattern. */
export const MAX_PATTERN_CHARACTERS = 4_000
/** Maximum number of values that `one_of` names. */
export const MAX_VALUES = 200
/** Maximum characters of a match as JSON. */
export const MAX_MATCH_CHARACTERS = 20_000

/** Any JSON value. Not `z.json()`, whose recursive schema the API reference cannot name. */
const JsonValue = z.unknown().refine((value) => value !== undefined, 'A value is needed')

/**
 * What one argument of a call may be. `glob`: `*` stands for any text without `/`, `**` for any text. `any`: everything,
 * also that it is absent.
 */
export const GrantPattern = z
  .union([
    z.strictObject({ equals: JsonValue }),
    z.strictObject({ one_of: z.array(JsonValue).min(1).max(MAX_VALUES) }),
    z.strictObject({ prefix: z.string().max(MAX_PATTERN_CHARACTERS) }),
    z.strictObject({ glob: z.string().max(MAX_PATTERN_CHARACTERS) }),
    z.strictObject({ any: z.literal(true) }),
  ])
  .meta({ id: 'GrantPattern' })
export type GrantPattern = z.infer<typeof GrantPattern>

/** One pattern for each argument; an argument without one must be absent or have its default. */
export const GrantMatch = z.record(z.string().max(200), GrantPattern)
export type GrantMatch = z.infer<typeof GrantMatch>

/** Where a grant holds. */
export const GrantScope = z.enum(['conversation', 'project', 'schedule'])
export type GrantScope = z.infer<typeof GrantScope>

const MAX_USES = 1_000_000

const rule = {
  scope: GrantScope,
  /** Also in conversations that contain text from outside. */
  even_tainted: optional(z.boolean()),
  /** Default: never. */
  expires_at: optional(Timestamp),
  /** Default: any number. */
  max_uses: optional(z.int().min(1).max(MAX_USES)),
}
const scopeId = z.string().min(1).max(64)
const tool = z.string().min(1).max(200)
/** The request that the grant is made for. */
const requestId = z.string().max(64)

/** The request body of `POST /api/grants`. */
export const CreateGrantBody = z
  .object({
    ...rule,
    scope_id: scopeId,
    tool,
    match: GrantMatch,
    approval_id: optional(requestId),
    /** Stores the grant although it would have allowed a call that you rejected. */
    anyway: optional(z.boolean()),
  })
  .meta({ id: 'CreateGrant' })
export type CreateGrantBody = z.infer<typeof CreateGrantBody>

/** The request body of `POST /api/grants/preview`. Without `match`, the suggested one is previewed. */
export const PreviewGrantBody = CreateGrantBody.extend({
  match: optional(GrantMatch),
}).meta({ id: 'PreviewGrant' })
export type PreviewGrantBody = z.infer<typeof PreviewGrantBody>

/** The grant that a decision makes; tool and place default to those of the call. */
export const DecidedGrant = CreateGrantBody.omit({ approval_id: true })
  .extend({ scope_id: optional(scopeId), tool: optional(tool) })
  .meta({ id: 'DecidedGrant' })
export type DecidedGrant = z.infer<typeof DecidedGrant>

/** A stored permission for calls that match it. */
export const Grant = z
  .object({
    id: z.string(),
    scope: GrantScope,
    /** The id of the conversation, project or schedule. */
    scope_id: z.string(),
    /** The conversation's title, or the name of the project or schedule. */
    scope_name: z.string(),
    tool: z.string(),
    /** Null: every call of the tool. */
    match: GrantMatch.nullable(),
    even_tainted: z.boolean(),
    /** Only for this run. */
    run_id: RunId.nullable(),
    expires_at: Timestamp.nullable(),
    max_uses: z.int().nullable(),
    uses: z.int(),
    last_used_at: Timestamp.nullable(),
    created_at: Timestamp,
    /** The request with whose decision it was made. */
    created_from: z.string().nullable(),
    /** Whether the tool has changed since: the grant is no longer used. */
    stale: z.boolean(),
  })
  .meta({ id: 'Grant' })
export type Grant = z.infer<typeof Grant>

/** A decided call that a grant would have allowed. */
export const GrantSample = z
  .object({
    approval_id: z.string(),
    name: z.string(),
    /** What was decided about; long texts are cut. */
    arguments: z.record(z.string(), z.unknown()),
    state: z.enum(['approved', 'rejected']),
  })
  .meta({ id: 'GrantSample' })
export type GrantSample = z.infer<typeof GrantSample>

/** What a grant would have allowed among the calls that the user decided. */
export const GrantPreview = z
  .object({
    would_allow: z.object({ approved: z.int(), rejected: z.int() }),
    /** Rejected ones first, newest first. */
    samples: z.array(GrantSample),
    /** With `approval_id`: the narrowest match that allows this call and similar ones that the user approved. */
    suggested: GrantMatch.optional(),
  })
  .meta({ id: 'GrantPreview' })
export type GrantPreview = z.infer<typeof GrantPreview>
