// What administrators see and change of the whole server, on the wire.
import { z } from 'zod'
import { ApprovalMode } from '../conversations/conversation.ts'
import { optional, page, Timestamp } from '../envelope.ts'
import { RunId, UserId } from '../ids.ts'
import { RunStatus } from '../runs/run.ts'
import { FindingCode } from './finding-code.ts'

/** An unfinished run. Reveals nothing of its conversation. */
export const AdminRun = z
  .object({
    id: RunId,
    user_id: UserId,
    username: z.string(),
    model: z.string(),
    kind: z.string(),
    status: RunStatus,
    iteration: z.int(),
    started_at: Timestamp,
  })
  .meta({ id: 'AdminRun' })
export type AdminRun = z.infer<typeof AdminRun>

/**
 * One result of the doctor's checks. `fail`: the server or a configured feature does not work. `warn`: it works, but not as
 * well as it could.
 */
export const HealthFinding = z
  .object({
    state: z.enum(['ok', 'warn', 'fail']),
    /** What was found, by name. */
    code: FindingCode,
    params: z.record(z.string(), z.union([z.string(), z.number()])),
    /** The result as an English text. */
    subject: z.string(),
    detail: z.string(),
    advice: z.string().nullable(),
  })
  .meta({ id: 'HealthFinding' })
export type HealthFinding = z.infer<typeof HealthFinding>

const Registration = z.enum(['open', 'invite', 'closed'])
const Sharing = z.enum(['on', 'off'])
const ModelName = z.string().min(1).max(200)
const ModelIds = z.array(ModelName).max(500)

/** The settings that administrators have stored. They take precedence over the configuration; null means it applies. */
export const StoredServerSettings = z.object({
  registration: Registration.nullable(),
  sharing: Sharing.nullable(),
  /** Ids of models in the order of lists. All others follow. */
  model_order: ModelIds,
  /** Ids of models that are in no list, except for administrators. */
  hidden_models: ModelIds,
  /** The model of conversations that have not chosen one. Absent in settings of earlier versions. */
  default_model: ModelName.nullable().default(null),
  /** The approval mode of conversations that have not chosen one, as far as the user's groups permit it. */
  default_approval: ApprovalMode.nullable().default(null),
})
export type StoredServerSettings = z.infer<typeof StoredServerSettings>

const Effective = z.object({
  registration: Registration,
  sharing: Sharing,
  /** Null: the first model. */
  default_model: ModelName.nullable(),
  default_approval: ApprovalMode,
})

/** The stored settings. `effective`: what applies now; `configured`: what would apply if nothing were stored. */
export const ServerSettings = StoredServerSettings.extend({
  default_model: ModelName.nullable(),
  default_approval: ApprovalMode.nullable(),
  effective: Effective,
  configured: Effective,
}).meta({ id: 'ServerSettings' })
export type ServerSettings = z.infer<typeof ServerSettings>

/** Changes of the settings. An absent field stays unchanged; `null` removes a stored value. */
export const PatchServerSettings = z
  .object({
    registration: Registration.nullable().optional(),
    sharing: Sharing.nullable().optional(),
    model_order: optional(ModelIds),
    hidden_models: optional(ModelIds),
    default_model: ModelName.nullable().optional(),
    default_approval: ApprovalMode.nullable().optional(),
  })
  .meta({ id: 'PatchServerSettings' })
export type PatchServerSettings = z.input<typeof PatchServerSettings>

const Bytes = z.int().min(0)

/** What is stored, by kind, in bytes. */
const StoredBytes = z.object({
  /** The current files of projects. */
  projects: Bytes,
  /**
   * Earlier contents of these files, in bytes on the disk: contents of checkpoints, which count toward the quota, and
   * copies that the next command starts from, which do not.
   */
  history: Bytes,
  /** Files attached to messages. */
  files: Bytes,
  documents: Bytes,
  total: Bytes,
})
/** Bytes stored, by what they belong to. */
export type StoredBytes = z.infer<typeof StoredBytes>

/** What an account stores, in bytes. */
export const AccountStorage = StoredBytes.extend({
  user_id: UserId,
  username: z.string(),
  /** Limit for projects, files, documents and the history that counts. */
  limit: Bytes,
}).meta({ id: 'AccountStorage' })
export type AccountStorage = z.infer<typeof AccountStorage>

/** The accounts that store anything, largest first, and their sum. */
export const StorageOverview = page(AccountStorage)
  .extend({ all: StoredBytes })
  .meta({ id: 'StorageOverview' })
export type StorageOverview = z.infer<typeof StorageOverview>
