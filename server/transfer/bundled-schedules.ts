// Schedules in a bundle: written without the secrets of their hooks, and stored by an import as ones that are off.
import { z } from 'zod'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { CreateScheduleBody } from '../protocol/schedules/schedule.ts'
import type { Schedules } from '../schedules/schedules.ts'
import { ScheduleSettings } from '../schedules/settings.ts'
import type { ReportWriter } from './import-report.ts'

/** The entry of a bundle with the schedules. */
export const SCHEDULES = 'schedules.json'

const PER_PAGE = 100

/** A schedule of a bundle. */
export const BundledSchedule = CreateScheduleBody.omit({ hook_secret: true, enabled: true }).extend(
  {
    /** The only tools that its runs may use; null: all. */
    tools: z.array(z.string().max(200)).max(1_000).nullable(),
  },
)
export type BundledSchedule = z.infer<typeof BundledSchedule>

/** The user's schedules, as a bundle has them. */
export async function bundledSchedules(
  schedules: Pick<Store['schedules'], 'list'>,
  userId: UserId,
): Promise<BundledSchedule[]> {
  const found: BundledSchedule[] = []
  let cursor: string | undefined
  do {
    const page = await schedules.list(userId, { limit: PER_PAGE, cursor })
    for (const { name, projectId, settings, tools } of page.items) {
      const { zone: _zone, catchUp, approvalDeadline, ...rest } = ScheduleSettings.parse(settings)
      found.push({
        name,
        project_id: projectId,
        ...rest,
        catch_up: catchUp,
        ...(approvalDeadline === undefined ? {} : { approval_deadline: approvalDeadline }),
        notify: BundledSchedule.shape.notify.parse(rest.notify),
        tools,
      })
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

/** What storing imported schedules needs. */
export interface ScheduleStoring {
  schedules: Pick<Schedules, 'create'>
  store: { schedules: Pick<Store['schedules'], 'list'> }
}

/** Whoever imports is named in the audit log as the one who makes the schedules. */
const importActor = (userId: UserId): Actor => ({
  userId,
  username: null,
  address: null,
  details: { by: 'import' },
})

/** What a refusal is about can be left out of a schedule that is off: a person looks at it before it runs. */
const WITHOUT: Readonly<Record<string, (body: CreateScheduleBody) => CreateScheduleBody>> = {
  unknown_model: (body) => ({ ...body, model: null }),
  skill_unknown: (body) => ({ ...body, skills: [] }),
  channel_unknown: (body) => ({
    ...body,
    notify: null,
    checks: body.checks?.filter((check) => !('sent' in check)),
  }),
  forbidden: (body) => ({ ...body, approval: null }),
}

/** Stores the schedules of a bundle, off. One that the user has already is left out, and so is one that is refused. */
export async function importSchedules(
  bundled: readonly BundledSchedule[],
  {
    userId,
    report,
    projectOf,
    schedules,
    store,
  }: ScheduleStoring & {
    userId: UserId
    report: Pick<ReportWriter, 'skip'>
    /** The project that an imported one has become. */
    projectOf(key: string): ProjectId | null
  },
): Promise<void> {
  const known = new Set((await bundledSchedules(store.schedules, userId)).map(printOf))
  for (const { tools, ...one } of bundled) {
    if (known.has(printOf(one))) {
      report.skip(one.name, storedFailure('import_already_there'))
      continue
    }
    let body: CreateScheduleBody = {
      ...one,
      project_id: one.project_id == null ? null : projectOf(one.project_id),
      // A command comes from a file now, not from a person.
      checks: (one.checks ?? []).filter((check) => !('command' in check)),
      enabled: false,
    }
    for (;;)
      try {
        const maker = tools === null ? undefined : { runId: null, tools }
        await schedules.create(userId, body, importActor(userId), maker)
        break
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        const without = WITHOUT[error.code]?.(body) ?? body
        if (JSON.stringify(without) === JSON.stringify(body)) {
          report.skip(one.name, storedFailure('import_file_refused', { detail: error.message }))
          break
        }
        body = without
      }
  }
}

/** What makes two schedules the same to a person. */
const printOf = ({ name, text, when }: Pick<BundledSchedule, 'name' | 'text' | 'when'>): string =>
  JSON.stringify([name, text, Object.entries(when).toSorted()])
