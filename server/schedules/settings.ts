// What a person has chosen for a schedule, as it is stored with the defaults filled in.
import { z } from 'zod'
import { ApprovalDeadline, ApprovalMode } from '../protocol/conversations/conversation.ts'
import {
  ScheduleCheck,
  ScheduleLimits,
  ScheduleWatch,
  ScheduleWhen,
} from '../protocol/schedules/schedule.ts'

/** The JSON in `schedules.settings`. */
export const ScheduleSettings = z.object({
  text: z.string(),
  model: z.string().nullable(),
  skills: z.array(z.string()),
  when: ScheduleWhen,
  /** The zone of a cron pattern. */
  zone: z.string().nullable(),
  conversation: z.enum(['same', 'new']),
  quiet: z.boolean(),
  watch: ScheduleWatch.nullable(),
  checks: z.array(ScheduleCheck),
  catchUp: z.enum(['one', 'none']),
  overlap: z.enum(['skip', 'queue']),
  limits: ScheduleLimits,
  approval: ApprovalMode.nullable(),
  /** Absent: that of the server; null: none. */
  approvalDeadline: ApprovalDeadline.nullable().optional(),
  /** Null: through the list `ask` of the preferences. */
  notify: z.array(z.string()).nullable(),
})
/** What a person has chosen for a schedule. */
export type ScheduleSettings = z.output<typeof ScheduleSettings>
