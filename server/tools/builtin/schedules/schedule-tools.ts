// The tools with which the agent makes, lists, changes and deletes schedules of the user.
import { z } from 'zod'
import { AppError } from '../../../errors.ts'
import { withoutNul } from '../../../protocol/envelope.ts'
import type { ProjectId, RunId, UserId } from '../../../protocol/ids.ts'
import { ScheduleId, ScheduleWhen } from '../../../protocol/schedules/schedule.ts'
import {
  defineTool,
  fail,
  succeed,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from '../../definition.ts'

/** What the tools need of schedules. Every method throws an AppError that says what is wrong. */
export interface ScheduleTools {
  create(
    maker: {
      userId: UserId
      runId: RunId
      projectId: ProjectId | null
      /** The names of the tools that the schedule may use. */
      tools: readonly string[]
    },
    schedule: { name: string; text: string; when: ScheduleWhen; quiet: boolean },
  ): Promise<ListedSchedule>
  list(userId: UserId): Promise<ListedSchedule[]>
  change(
    userId: UserId,
    runId: RunId,
    id: ScheduleId,
    changes: { enabled?: boolean; text?: string; when?: ScheduleWhen },
  ): Promise<ListedSchedule>
  /** Whether the schedule may do what the run may not: use other tools, or act with fewer questions. */
  exceeds(
    run: { userId: UserId; runId: RunId; tools: readonly string[] },
    id: ScheduleId,
  ): Promise<boolean>
  remove(userId: UserId, runId: RunId, id: ScheduleId): Promise<void>
  /** The next due times in the user's zone, in words. */
  preview(userId: UserId, when: ScheduleWhen): Promise<string[]>
  /** The name of a schedule of the user. */
  nameOf(userId: UserId, id: ScheduleId): Promise<string>
}

/** A schedule as models see it. */
export interface ListedSchedule {
  id: string
  name: string
  text: string
  when: ScheduleWhen
  enabled: boolean
  next_at: string | null
}

/** Models are told the kinds in words: their schemas would cost more in each request than all else about schedules. */
const When = z
  .record(z.string(), z.unknown())
  .pipe(ScheduleWhen)
  .describe(
    'One of {"at": UTC time}, {"cron": "m h dom mon dow", "tz": IANA name}, {"every": "15m".."30d"}. tz defaults to the user\'s zone.',
  )
const Text = withoutNul(z.string().trim().min(1).max(20_000)).describe(
  'What to do each time, complete in itself.',
)
const Id = ScheduleId.describe('From schedule_list.')

/** A hook's address is for the person, who makes it on the page. */
const isHook = (when: ScheduleWhen | undefined): boolean => when !== undefined && 'hook' in when

async function answered(work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) return fail(error.message)
    throw error
  }
}

/** The tools `schedule_create`, `schedule_list`, `schedule_change` and `schedule_delete`. */
export const createScheduleTools = (schedules: ScheduleTools): ToolDefinition[] => [
  createTool(schedules),
  listTool(schedules),
  changeTool(schedules),
  deleteTool(schedules),
]

const createTool = (schedules: ScheduleTools): ToolDefinition =>
  defineTool({
    name: 'schedule_create',
    description:
      'Makes a schedule: a task that runs by itself later or repeatedly, when the user asks for it.',
    category: 'schedule',
    riskLevel: 'medium',
    input: z.object({
      name: withoutNul(z.string().trim().min(1).max(200)).describe('A few words.'),
      text: Text,
      when: When,
      quiet: z
        .boolean()
        .default(false)
        .describe('Tell the user only if there is something to say.'),
      project_files: z.boolean().default(false).describe('Work with the files of this project.'),
    }),
    orderKey: () => 'schedules',
    preview: async ({ name, text, when }, context) =>
      previewOf(`${name}\n${text}`, when, context, schedules),
    handler: ({ project_files: usesProject, ...schedule }, context) =>
      answered(async () => {
        if (isHook(schedule.when))
          return fail('Only the user can make a schedule with a hook, on the page.')
        if (usesProject && context.projectId === null)
          return fail('This conversation has no project. The user can keep its files as one first.')
        const made = await schedules.create(
          {
            userId: context.userId,
            runId: context.runId,
            tools: context.offered ?? [],
            projectId: usesProject ? context.projectId : null,
          },
          schedule,
        )
        return succeed(made, {
          kind: 'schedule',
          schedule_id: made.id,
          display: made.name,
          next_at: made.next_at,
        })
      }),
  })

const listTool = (schedules: ScheduleTools): ToolDefinition =>
  defineTool({
    name: 'schedule_list',
    description: "Lists the user's schedules with their ids and next times.",
    category: 'schedule',
    riskLevel: 'low',
    input: z.object({}),
    handler: (_input, { userId }) =>
      answered(async () => {
        const found = await schedules.list(userId)
        return succeed({ schedules: found }, { display: String(found.length) })
      }),
  })

const changeTool = (schedules: ScheduleTools): ToolDefinition =>
  defineTool({
    name: 'schedule_change',
    description: 'Changes a schedule: its text, its times, or whether it is on (enabled).',
    category: 'schedule',
    riskLevel: 'medium',
    input: z.object({
      id: Id,
      enabled: z.boolean().optional(),
      text: Text.optional(),
      when: When.optional(),
    }),
    orderKey: () => 'schedules',
    async preview({ id, text, when, enabled }, context) {
      const name = await schedules.nameOf(context.userId, id)
      const state = enabled === undefined ? '' : enabled ? ' → on' : ' → off'
      return await previewOf(`${name}${state}\n${text ?? ''}`, when, context, schedules)
    },
    handler: ({ id, enabled, text, when }, { userId, runId, offered: tools = [] }) =>
      answered(async () => {
        const onlyEnds = enabled === false && text === undefined && when === undefined
        if (!onlyEnds && (await schedules.exceeds({ userId, runId, tools }, id)))
          return fail(
            'This schedule may do more than this conversation. Only the user can change it, on the page.',
          )
        if (isHook(when)) return fail('Only the user can make a schedule with a hook, on the page.')
        const made = await schedules.change(userId, runId, id, {
          ...(enabled === undefined ? {} : { enabled }),
          ...(text === undefined ? {} : { text }),
          ...(when === undefined ? {} : { when }),
        })
        return succeed(made, {
          kind: 'schedule',
          schedule_id: made.id,
          display: made.name,
          next_at: made.next_at,
        })
      }),
  })

const deleteTool = (schedules: ScheduleTools): ToolDefinition =>
  defineTool({
    name: 'schedule_delete',
    description: 'Deletes a schedule, so that its task no longer runs.',
    category: 'schedule',
    riskLevel: 'medium',
    input: z.object({ id: Id }),
    orderKey: () => 'schedules',
    preview: async ({ id }, { userId }) => ({ display: await schedules.nameOf(userId, id) }),
    handler: ({ id }, { userId, runId }) =>
      answered(async () => {
        const name = await schedules.nameOf(userId, id)
        await schedules.remove(userId, runId, id)
        return succeed({ deleted: id }, { display: name })
      }),
  })

/** What would happen, with the next three times. */
async function previewOf(
  what: string,
  when: ScheduleWhen | undefined,
  { userId }: ToolContext,
  schedules: ScheduleTools,
) {
  const times = when === undefined ? [] : await schedules.preview(userId, when)
  return { display: [what.trim(), ...times].join('\n') }
}
