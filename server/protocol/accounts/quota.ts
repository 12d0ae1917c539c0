// Quotas on the wire: the limits of users and groups, and how much of them is used.
import { z } from 'zod'
import { ApprovalMode } from '../conversations/conversation.ts'
import { SpeechOffer } from '../speech.ts'

const MAX_AMOUNT = Number.MAX_SAFE_INTEGER
const Count = z.int().min(0).max(MAX_AMOUNT)
/** In the currency of the models' prices. If there are several, the limit applies to each. */
const Cost = z.number().min(0).max(1e12)

/** Model calls: those of answers, titles, summaries, sub-agents, embeddings and reranking. Days and months are UTC. */
const spending = {
  tokens_per_day: Count.nullable(),
  tokens_per_month: Count.nullable(),
  cost_per_day: Cost.nullable(),
  cost_per_month: Cost.nullable(),
}

/** Limits of one account; null if this quota sets no such limit. */
export const Quota = z
  .object({
    ...spending,
    concurrent_runs: z.int().min(0).max(10_000).nullable(),
    requests_per_minute: z.int().min(1).max(1_000_000).nullable(),
    /** Bytes of projects, their history, documents and files. */
    storage: Count.nullable(),
    /** Seconds that Python programs and shell commands run. */
    program_seconds_per_day: Count.nullable(),
    /** Messages to channels. */
    messages_per_day: Count.nullable(),
    /** Schedules that the account may have. */
    schedules: z.int().min(0).max(100_000).nullable(),
    /** Projects of the account that have other members. */
    projects_shared: z.int().min(0).max(100_000).nullable(),
    /** Runs that each sender at a messenger may start per hour. */
    channel_runs_per_hour: z.int().min(0).max(100_000).nullable(),
  })
  .meta({ id: 'Quota' })
export type Quota = z.infer<typeof Quota>
/** The kind of a limit, such as `storage`: a name in `Quota`. */
export type QuotaKind = keyof Quota

/** Limits of what all members of a group may use together; null if it sets no such limit. */
export const SharedQuota = z.object(spending).meta({ id: 'SharedQuota' })
export type SharedQuota = z.infer<typeof SharedQuota>

/**
 * Changes of a quota. An absent field stays unchanged; `null` removes a limit. Unknown fields are refused, because a
 * misspelled limit would have no effect.
 */
export const PatchQuota = Quota.partial().strict().meta({ id: 'PatchQuota' })
export type PatchQuota = z.infer<typeof PatchQuota>
/** Changes of a shared quota. An absent field stays unchanged; `null` removes a limit. */
export const PatchSharedQuota = SharedQuota.partial().strict().meta({ id: 'PatchSharedQuota' })
export type PatchSharedQuota = z.infer<typeof PatchSharedQuota>

export const NO_QUOTA: Quota = {
  tokens_per_day: null,
  tokens_per_month: null,
  cost_per_day: null,
  cost_per_month: null,
  concurrent_runs: null,
  requests_per_minute: null,
  storage: null,
  program_seconds_per_day: null,
  messages_per_day: null,
  schedules: null,
  projects_shared: null,
  channel_runs_per_hour: null,
}

export const NO_SHARED_QUOTA: SharedQuota = {
  tokens_per_day: null,
  tokens_per_month: null,
  cost_per_day: null,
  cost_per_month: null,
}

/** The given limits, with null for all others. */
export const fullQuota = (given: PatchQuota | null | undefined): Quota =>
  Quota.parse({ ...NO_QUOTA, ...given })
/** The given limits of a shared quota, with null for all others. */
export const fullSharedQuota = (given: PatchSharedQuota | null | undefined): SharedQuota =>
  SharedQuota.parse({ ...NO_SHARED_QUOTA, ...given })

export const QuotaKindName = z.enum([
  'tokens_per_day',
  'tokens_per_month',
  'cost_per_day',
  'cost_per_month',
  'concurrent_runs',
  'requests_per_minute',
  'storage',
  'program_seconds_per_day',
  'messages_per_day',
  'schedules',
  'projects_shared',
  'channel_runs_per_hour',
])

/** A limit that applies to a user, and how much of it is used. */
export const QuotaItem = z.object({
  kind: QuotaKindName,
  /** The group that shares this limit; null for a limit of the user alone. */
  group: z.string().nullable(),
  limit: z.number(),
  /** Null if use is not counted in advance (requests per minute). */
  used: z.number().nullable(),
  /** For a cost limit: the currency in which most is used; null if there is no cost yet. */
  currency: z.string().nullable(),
  /** When the limit is renewed; null if it is not renewed at a fixed time. */
  renews_at: z.iso.datetime().nullable(),
})
export type QuotaItem = z.infer<typeof QuotaItem>

/** A user's limits, and the approval modes that the user's groups permit. */
export const QuotaReport = z
  .object({
    items: z.array(QuotaItem),
    approval_modes: z.array(ApprovalMode),
    /** The approval mode of conversations that have not chosen one. */
    default_approval: ApprovalMode,
    /** Which services for speech the server has. */
    speech: SpeechOffer,
  })
  .meta({ id: 'QuotaReport' })
export type QuotaReport = z.infer<typeof QuotaReport>

export const StoredKindName = z.enum([
  'projects',
  'history',
  'files',
  'documents',
  'conversations',
  'shares',
])

/** What a user stores, by kind. */
export const StorageUse = z
  .object({
    /** Bytes that the user may store. */
    limit: z.number(),
    /** Bytes that every change of files must fit beside. Earlier versions of project files make room by themselves. */
    used: z.number(),
    /** Bytes that imports, shared copies and messages must fit beside: with all texts. */
    used_with_texts: z.number(),
    /**
     * `history`: earlier versions of project files. `files`: attached files. `conversations`: the texts of conversations,
     * also of those in the trash. `shares`: shared copies. Kinds of which nothing is stored are there, too.
     */
    items: z.array(
      z.object({
        kind: StoredKindName,
        bytes: z.number(),
        /** How many there are; null for `history`. */
        count: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: 'StorageUse' })
export type StorageUse = z.infer<typeof StorageUse>
