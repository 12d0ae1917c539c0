// Schedules on the wire: when something is to be done without a person, and each time that it was due.
import { z } from 'zod'
import { AskEntry } from '../accounts/preferences.ts'
import { ApprovalDeadline, ApprovalMode } from '../conversations/conversation.ts'
import { optional, Timestamp, withoutNul } from '../envelope.ts'
import { ErrorParams } from '../error.ts'
import { ConversationId, MessageId, ProjectId, RunId } from '../ids.ts'

/** The id of a schedule. */
export const ScheduleId = z.string().min(1).max(64).brand<'ScheduleId'>()
export type ScheduleId = z.infer<typeof ScheduleId>

/** The id of an occurrence: one time at which a schedule was due. */
export const OccurrenceId = z.string().min(1).max(64).brand<'OccurrenceId'>()
export type OccurrenceId = z.infer<typeof OccurrenceId>

/** Milliseconds of the units of intervals. */
export const EVERY_UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const MAX_EVERY_MS = 30 * EVERY_UNITS_MS.d

const text = (max: number) => withoutNul(z.string().min(1).max(max))

export const CronPattern = z.string().min(9).max(200)
export const ZoneName = z.string().min(1).max(64)

const Every = z
  .string()
  .regex(/^[1-9]\d{0,5}[mhd]$/, 'a number and m, h or d, such as "15m"')
  .refine((every) => {
    const unit = every.at(-1)
    const ms = unit === 'm' ? EVERY_UNITS_MS.m : unit === 'h' ? EVERY_UNITS_MS.h : EVERY_UNITS_MS.d
    return Number(every.slice(0, -1)) * ms <= MAX_EVERY_MS
  }, 'at most 30d')

/** When a schedule is due: exactly one kind. */
export const ScheduleWhen = z
  .union([
    z.strictObject({ at: Timestamp }),
    z.strictObject({
      cron: CronPattern,
      tz: ZoneName.optional(),
      exact: z.boolean().optional(),
    }),
    z.strictObject({ every: Every }),
    z.strictObject({ hook: z.literal(true) }),
  ])
  .meta({ id: 'ScheduleWhen' })
export type ScheduleWhen = z.output<typeof ScheduleWhen>

const Glob = text(500)

/** What is looked at on each due time: without a change, nothing is done. */
export const ScheduleWatch = z
  .union([
    z.strictObject({
      page: z.url({ protocol: /^https?$/ }).max(2_000),
      first: z.boolean().optional(),
    }),
    z.strictObject({ files: Glob, first: z.boolean().optional() }),
  ])
  .meta({ id: 'ScheduleWatch' })
export type ScheduleWatch = z.output<typeof ScheduleWatch>

/** Any JSON value. Not `z.json()`, whose recursive schema the API reference cannot name. */
const JsonValue = z
  .unknown()
  .refine((value) => value !== undefined, 'A value is needed')
  .refine(
    (value) => (JSON.stringify(value) ?? '').length <= 2_000,
    'at most 2,000 characters of JSON',
  )

/** What the server checks after a run, on what is stored. */
export const ScheduleCheck = z
  .union([
    z.strictObject({ file: Glob, is: z.enum(['exists', 'changed', 'unchanged']) }),
    z.strictObject({ file: text(500), contains: text(2_000) }),
    z.strictObject({ file: text(500), pointer: z.string().max(500), equals: JsonValue }),
    z.strictObject({
      tool: text(200),
      is: z.enum(['succeeded', 'called', 'not_called']),
      at_least: z.int().min(1).max(1_000).optional(),
    }),
    z.strictObject({ answer: z.enum(['contains', 'matches']), value: text(2_000) }),
    z.strictObject({
      sent: withoutNul(
        z
          .string()
          .max(208)
          .regex(/^channel:.+$/),
      ),
    }),
    z.strictObject({ command: text(2_000), exits: z.int().min(0).max(255) }),
  ])
  .meta({ id: 'ScheduleCheck' })
export type ScheduleCheck = z.output<typeof ScheduleCheck>

/** What one run may use. */
export const ScheduleLimits = z
  .strictObject({
    cost: z.number().positive().max(1e12).optional(),
    tokens: z.int().min(1).optional(),
    minutes: z.number().positive().max(1_440).optional(),
  })
  .meta({ id: 'ScheduleLimits' })
export type ScheduleLimits = z.output<typeof ScheduleLimits>

const MAX_CHECKS = 10
const fields = {
  name: withoutNul(z.string().trim().min(1).max(200)),
  text: withoutNul(z.string().trim().min(1).max(20_000)),
  project_id: ProjectId.nullable().optional(),
  model: z.string().min(1).max(200).nullable().optional(),
  skills: optional(z.array(text(64)).max(5)),
  when: ScheduleWhen,
  /** `same`: one conversation; `new`: one for each occurrence. */
  conversation: optional(z.enum(['same', 'new'])),
  quiet: optional(z.boolean()),
  watch: ScheduleWatch.nullable().optional(),
  checks: optional(z.array(ScheduleCheck).max(MAX_CHECKS)),
  catch_up: optional(z.enum(['one', 'none'])),
  overlap: optional(z.enum(['skip', 'queue'])),
  limits: optional(ScheduleLimits),
  approval: ApprovalMode.nullable().optional(),
  approval_deadline: ApprovalDeadline.nullable().optional(),
  /** Absent or null: through the list `ask` of the preferences. Empty: nobody. */
  notify: z.array(AskEntry.shape.through).max(5).nullable().optional(),
  enabled: optional(z.boolean()),
  /** `whsec_…`; requests to the hook must be signed with it. Null removes it. */
  hook_secret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{22,344}={0,2}$/, '`whsec_` and at least 16 bytes in base64')
    .nullable()
    .optional(),
}

/** The request body of `POST /api/schedules`. */
export const CreateScheduleBody = z.strictObject(fields).meta({ id: 'CreateSchedule' })
export type CreateScheduleBody = z.output<typeof CreateScheduleBody>

/** An absent field stays unchanged. */
export const PatchScheduleBody = z
  .strictObject({
    ...fields,
    name: optional(fields.name),
    text: optional(fields.text),
    when: optional(ScheduleWhen),
  })
  .meta({ id: 'PatchSchedule' })
export type PatchScheduleBody = z.output<typeof PatchScheduleBody>

export const OccurrenceState = z.enum([
  'running',
  'waiting',
  'done',
  'quiet',
  'unmet',
  'failed',
  'stopped',
  'missed',
  'skipped',
])
export type OccurrenceState = z.infer<typeof OccurrenceState>

/** Why an occurrence ended as it did. */
export const OccurrenceReason = z.enum([
  'down',
  'catch_up_none',
  'too_old',
  'still_running',
  'queue_full',
  'conversation_busy',
  'too_many_runs',
  'budget',
  'approval_expired',
  'check_failed',
  'run_failed',
  /** The server ended so often while the run was at work that it was given up. */
  'interrupted',
  'not_started',
  'watch_failed',
  'stopped',
  'ended',
])
export type OccurrenceReason = z.infer<typeof OccurrenceReason>

/** The reason behind an English text, by its name in the list of failures, so that it can be said in its reader's language. */
export const NamedFailure = z
  .object({ reason: z.string(), params: ErrorParams.optional() })
  .meta({ id: 'NamedFailure' })
export type NamedFailure = z.infer<typeof NamedFailure>

/** What a check found. */
export const CheckOutcome = z
  .object({
    check: ScheduleCheck,
    passed: z.boolean(),
    detail: z.string(),
    /** Why it could not be evaluated, where `detail` is the text of a failure. */
    failure: NamedFailure.optional(),
  })
  .meta({ id: 'CheckOutcome' })
export type CheckOutcome = z.infer<typeof CheckOutcome>

/** One due time of a schedule, and what came of it. */
export const Occurrence = z
  .object({
    id: OccurrenceId,
    schedule_id: ScheduleId,
    due_at: Timestamp,
    state: OccurrenceState,
    reason: OccurrenceReason.nullable(),
    /** More about the reason, for a person. */
    detail: z.string().nullable(),
    /** Where `detail` is the text of a failure. */
    failure: NamedFailure.nullable(),
    /** Whether a person started it. */
    manual: z.boolean(),
    /** How many due times it stands for; more than one only for many missed ones. */
    count: z.int(),
    run_id: RunId.nullable(),
    conversation_id: ConversationId.nullable(),
    message_id: MessageId.nullable(),
    checks: z.array(CheckOutcome),
    /** By currency. */
    cost: z.record(z.string(), z.number()).nullable(),
    started_at: Timestamp.nullable(),
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'Occurrence' })
export type Occurrence = z.infer<typeof Occurrence>

/** An occurrence that has ended, as webhooks learn of it. */
export interface EndedOccurrence {
  scheduleId: string
  occurrenceId: string
  state: string
  runId: string | null
  at: Date
}

export const DisabledReason = z.enum(['failures', 'quota', 'model', 'owner'])
export type DisabledReason = z.infer<typeof DisabledReason>

/** A schedule as its user sees it. */
export const Schedule = z
  .object({
    id: ScheduleId,
    name: z.string(),
    text: z.string(),
    project_id: ProjectId.nullable(),
    model: z.string().nullable(),
    skills: z.array(z.string()),
    when: ScheduleWhen,
    conversation: z.enum(['same', 'new']),
    /** With `same`, the conversation, once there is one. */
    conversation_id: ConversationId.nullable(),
    quiet: z.boolean(),
    watch: ScheduleWatch.nullable(),
    watched_at: Timestamp.nullable(),
    watch_failures: z.int(),
    checks: z.array(ScheduleCheck),
    catch_up: z.enum(['one', 'none']),
    overlap: z.enum(['skip', 'queue']),
    limits: ScheduleLimits,
    approval: ApprovalMode.nullable(),
    /** Seconds; null: none. Absent: that of the server. */
    approval_deadline: z.int().nullable().optional(),
    /** Null: through the list `ask` of the preferences. */
    notify: z.array(z.string()).nullable(),
    enabled: z.boolean(),
    next_at: Timestamp.nullable(),
    last: Occurrence.nullable(),
    failures: z.int(),
    disabled_reason: DisabledReason.nullable(),
    /** Only in the answer that made it, and only once. */
    hook_url: z.string().optional(),
    /** Whether requests to its hook must be signed. */
    signed: z.boolean(),
    created_by_run: RunId.nullable(),
    /** The only tools that its runs may use; null: all. */
    tools: z.array(z.string()).nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Schedule' })
export type Schedule = z.infer<typeof Schedule>

/** The query of `GET /api/schedules/preview`. */
export const PreviewQuery = z
  .object({
    cron: CronPattern.optional(),
    every: Every.optional(),
    tz: ZoneName.optional(),
    count: z.coerce.number().int().min(1).max(20).optional(),
  })
  .refine(({ cron, every }) => (cron === undefined) !== (every === undefined), {
    error: 'either cron or every',
  })

export const SchedulePreview = z
  .object({ times: z.array(Timestamp) })
  .meta({ id: 'SchedulePreview' })

export const StartedOccurrence = z
  .object({ occurrence_id: OccurrenceId })
  .meta({ id: 'StartedOccurrence' })

export const HookUrl = z.object({ hook_url: z.string() }).meta({ id: 'HookUrl' })
