// Checks what a request says of a schedule against everything it refers to, and fills in the defaults.
import type { Store } from '../db/store.ts'
import { appError, errorText } from '../errors.ts'
import type { Channels } from '../messaging/channels.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { UserId } from '../protocol/ids.ts'
import type { CreateScheduleBody } from '../protocol/schedules/schedule.ts'
import { requireSkills, type Skills } from '../skills/skills.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import { requireProject } from '../workspace/open-project.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { ScheduleSettings } from './settings.ts'
import { assertDueRule, assertZone } from './times.ts'

/** A single time may lie this far in the past. */
const PAST_MS = 60_000

/** What decides which schedules a user may have. */
export interface ScheduleRules {
  store: Pick<Store, 'projects' | 'settings'>
  now(): Date
  /** Least seconds between two due times. */
  minIntervalSeconds: number
  /** How many schedules a user may have whose quota does not say. */
  defaultPerUser: number
  access: {
    /** @throws AppError `schedules_off`. */
    assertFeature(userId: UserId, feature: 'schedules'): void
    assertApprovalMode(userId: UserId, mode: ApprovalMode): void
    quota(userId: UserId): { schedules: number | null }
  }
  offeredModels: {
    /** @throws AppError `unknown_model`. */
    assertOffered(userId: UserId, model: string): Promise<void>
  }
  channels: Pick<Channels, 'list'>
  skills: Pick<Skills, 'active' | 'stateOf'>
  workspace: Pick<WorkspaceServices, 'pool'>
  /** The tools of the server, which are there when the first schedule is checked. */
  registry(): Pick<ToolRegistry, 'snapshot'>
}

/**
 * @param by.isPerson false for a tool: it cannot make a check that runs a command.
 * @param by.named the fields of a change: only what they say is checked, because the rest was when it was chosen, and may no
 * longer be possible. Absent for a new schedule: everything is checked.
 * @param by.isEnabled whether the schedule will work in its project from now on: whoever may no longer change that can still
 * switch it off, or take it elsewhere.
 * @throws AppError that says what is wrong.
 */
export async function checkSettings(
  userId: UserId,
  body: CreateScheduleBody,
  rules: ScheduleRules,
  {
    isPerson,
    named,
    isEnabled = true,
  }: { isPerson: boolean; named?: ReadonlySet<string>; isEnabled?: boolean },
): Promise<ScheduleSettings> {
  const { when, watch = null, checks = [], model = null, notify = null, approval = null } = body
  const zone = await zoneOf(userId, when, rules)
  const isNew = (...fields: (keyof CreateScheduleBody)[]): boolean =>
    named === undefined || fields.some((field) => named.has(field))
  if ('at' in when && isNew('when') && Date.parse(when.at) < rules.now().getTime() - PAST_MS)
    throw appError('time_is_past')
  if (isNew('when')) assertDueRule(when, rules.minIntervalSeconds)
  if (isNew('when', 'watch') && watch !== null && !('cron' in when || 'every' in when))
    throw appError('watch_needs_times')
  const projectId = body.project_id ?? null
  if (projectId !== null && (isNew('project_id') || isEnabled)) {
    const project = await requireProject(rules.store.projects, userId, projectId, 'change')
    if (project.scratch) throw appError('project_is_scratch')
  }
  const needsProject =
    isNew('project_id', 'checks', 'watch') &&
    (checks.some((check) => 'file' in check || 'command' in check) ||
      (watch !== null && 'files' in watch))
  if (needsProject && projectId === null) throw appError('schedule_project_needed')
  if (isNew('checks') && checks.some((check) => 'command' in check))
    if (!isPerson || !allowsCommands(userId, rules)) throw appError('check_command_not_permitted')
  for (const check of isNew('checks') ? checks : [])
    if ('answer' in check && check.answer === 'matches')
      await assertPattern(userId, check.value, rules)
  if (model !== null && isNew('model')) await rules.offeredModels.assertOffered(userId, model)
  if (approval !== null && isNew('approval')) rules.access.assertApprovalMode(userId, approval)
  const names = body.skills ?? []
  if (names.length > 0 && isNew('skills', 'project_id'))
    await requireSkills(rules.skills, { userId, projectId }, names)
  const through = [
    ...(isNew('notify') ? (notify ?? []) : []),
    ...(isNew('checks') ? sentTo(checks) : []),
  ]
  await assertChannels(userId, through, rules)
  return {
    text: body.text,
    model,
    skills: names,
    when: zone === null || !('cron' in when) ? when : { ...when, tz: zone },
    zone,
    conversation: body.conversation ?? 'same',
    quiet: body.quiet ?? false,
    watch,
    checks,
    catchUp: body.catch_up ?? 'one',
    overlap: body.overlap ?? ('hook' in when ? 'queue' : 'skip'),
    limits: body.limits ?? {},
    approval,
    ...(body.approval_deadline === undefined ? {} : { approvalDeadline: body.approval_deadline }),
    notify,
  }
}

const sentTo = (checks: ScheduleSettings['checks']): string[] =>
  checks.flatMap((check) => ('sent' in check ? [check.sent] : []))

/** The zone of a cron pattern: its own, or that of the user. @throws AppError `time_zone_needed`, `time_zone_unknown`. */
export async function zoneOf(
  userId: UserId,
  when: CreateScheduleBody['when'],
  { store }: { store: Pick<Store, 'settings'> },
): Promise<string | null> {
  if (!('cron' in when)) return null
  const zone = when.tz ?? (await store.settings.preferences(userId)).time_zone
  if (zone === '') throw appError('time_zone_needed')
  assertZone(zone)
  return zone
}

/** How long a pattern of a check may take. */
const PATTERN_MS = 2_000

/** Runs patterns of checks in a worker thread, with a time limit. */
export const patternMatcher =
  (workspace: Pick<WorkspaceServices, 'pool'>) =>
  (userId: UserId, pattern: string, text: string): Promise<boolean> =>
    workspace.pool.run(
      'matches_linear',
      { pattern, text },
      { timeoutMs: PATTERN_MS, owner: userId },
    )

/** Whether commands are on for the user. */
const allowsCommands = (userId: UserId, { registry }: Pick<ScheduleRules, 'registry'>): boolean =>
  registry().snapshot(userId).get('exec') !== undefined

async function assertPattern(
  userId: UserId,
  pattern: string,
  { workspace }: Pick<ScheduleRules, 'workspace'>,
): Promise<void> {
  try {
    await patternMatcher(workspace)(userId, pattern, '')
  } catch (error) {
    throw appError('check_pattern_invalid', { pattern, detail: errorText(error) })
  }
}

async function assertChannels(
  userId: UserId,
  through: readonly string[],
  { channels }: Pick<ScheduleRules, 'channels'>,
): Promise<void> {
  const names = through.filter((one) => one !== 'push').map((one) => one.slice('channel:'.length))
  if (names.length === 0) return
  const known = new Set((await channels.list(userId)).map(({ name }) => name))
  const missing = names.find((name) => !known.has(name))
  if (missing !== undefined) throw appError('channel_unknown', { name: missing })
}
