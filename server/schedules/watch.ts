// What a schedule watches: a page or files of a project, compared with what the last look saw. No model is called.
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import { storedReason } from '../errors.ts'
import { deadline } from '../lib/abort.ts'
import { attachable } from '../lib/attachable-text.ts'
import { createFairQueue } from '../lib/fair-queue.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { NamedFailure } from '../protocol/schedules/schedule.ts'
import type { createPageLoader } from '../tools/builtin/web/fetch-page.ts'
import type { MakeDiff } from '../workspace/checkpoints/diff/diffs.ts'
import type { ScheduleSettings } from './settings.ts'

/** More of a page or of a list of files is not compared. */
const MAX_WATCHED_CHARACTERS = 500_000
/** The most that a model is given of what changed. */
const MAX_DIFF_CHARACTERS = 20_000

const PAGE_TIMEOUT_MS = 45_000

/** Pages and projects that are looked at at the same time; of one user, few, so that slow pages do not delay those of others. */
const slots = createFairQueue({ size: 8, perOwner: 2 })

/** What looking needs. */
export interface WatchDependencies {
  store: Store
  makeDiff: MakeDiff
  /** Reads a page as the tool `fetch_page` does. */
  readPage: ReturnType<typeof createPageLoader>
  /** The files that match, each with the hash of its content, and the text of small ones. @throws AppError, or if ended by `signal`. */
  readFiles(
    userId: UserId,
    projectId: ProjectId,
    glob: string,
    signal: AbortSignal,
  ): Promise<string>
  log: { warn(details: object, message: string): void }
}

/** What a look saw. */
type Seen =
  | { kind: 'failed'; detail: string; failure: NamedFailure }
  /** `content`: what to remember; null: nothing changed. `input`: what the model is given; null: nothing is to be done. */
  | { kind: 'seen'; content: string | null; input: { name: string; content: string } | null }

/** Looks once. @throws if `signal` ended the look: it says nothing about what is watched. */
export async function lookAtWatch(
  schedule: Pick<ScheduleRow, 'id' | 'userId' | 'projectId'>,
  { watch }: ScheduleSettings,
  dependencies: WatchDependencies,
  signal: AbortSignal,
): Promise<Seen> {
  try {
    const found = await slots.run(schedule.userId, () =>
      contentOf(schedule, watch, dependencies, signal),
    )
    signal.throwIfAborted()
    if (typeof found !== 'string') return found
    const content = attachable(found.slice(0, MAX_WATCHED_CHARACTERS))
    const before = await dependencies.store.schedules.watched(schedule.id)
    if (before === content) return { kind: 'seen', content: null, input: null }
    if (before === undefined && watch?.first !== true) return { kind: 'seen', content, input: null }
    const { diff } = await dependencies.makeDiff('watched', before ?? null, content)
    return {
      kind: 'seen',
      content,
      input: { name: 'what-changed.diff', content: attachable(diff.slice(0, MAX_DIFF_CHARACTERS)) },
    }
  } catch (error) {
    signal.throwIfAborted()
    const { detail, failure } = storedReason(error, (fault) =>
      dependencies.log.warn({ err: fault, schedule: schedule.id }, 'a look has failed'),
    )
    return { kind: 'failed', detail, failure }
  }
}

async function contentOf(
  { userId, projectId }: Pick<ScheduleRow, 'userId' | 'projectId'>,
  watch: ScheduleSettings['watch'],
  { readPage, readFiles }: WatchDependencies,
  signal: AbortSignal,
): Promise<string | Extract<Seen, { kind: 'failed' }>> {
  if (watch === null) return ''
  if ('files' in watch)
    return projectId === null ? '' : await readFiles(userId, projectId, watch.files, signal)
  const limited = deadline(PAGE_TIMEOUT_MS, signal)
  const page = await readPage(watch.page, 'text', { signal: limited, userId })
  if (!page.ok)
    return { kind: 'failed', detail: page.error, failure: NamedFailure.parse(page.failure) }
  const { text } = page.data
  // An empty text would look like a page that never changes.
  if (typeof text !== 'string') throw new Error('A page was read without its text.')
  return text
}
