// Tells a person what came of an occurrence, through what the schedule or the person's preferences name.

import type { OccurrenceRow } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import { filled, localeTexts, refusalIn } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { Channels } from '../messaging/channels.ts'
import type { Push } from '../messaging/push.ts'
import type { AskEntry } from '../protocol/accounts/preferences.ts'
import { fillIn } from '../protocol/failures.ts'
import type { UserId } from '../protocol/ids.ts'
import { readFinding } from '../protocol/schedules/check-finding.ts'
import type { OccurrenceState, ScheduleCheck } from '../protocol/schedules/schedule.ts'
import { ScheduleSettings } from './settings.ts'

/** Characters of an answer that a channel is sent. */
const MAX_ANSWER = 3_500
const MAX_PREVIEW = 1_000
const CHANNEL_TIMEOUT_MS = 5_000
/** Stands for the list `ask` of the preferences. */
const BY_PREFERENCES = 'ask'
/** Stands for the notice that the schedule is off now. */
const IS_OFF = 'off'

/** What telling needs. */
export interface TellDependencies {
  store: Store
  channels: Pick<Channels, 'send'>
  push: Pick<Push, 'tellNotRun' | 'tellEnded'>
  log: { warn(details: object, message: string): void }
}

/** Whom an end is to be told to; null: nobody. Stored with the end. */
export function toldOf(
  state: OccurrenceState,
  { notify }: Pick<ScheduleSettings, 'notify'>,
  isOff: boolean,
): string[] | null {
  if (isOff)
    return [IS_OFF, ...(notify === null || notify.length === 0 ? [BY_PREFERENCES] : notify)]
  if (state === 'quiet' || state === 'skipped') return null
  if (notify === null) return [BY_PREFERENCES]
  return notify.length === 0 ? null : notify
}

/** Tells it. `occurrence.untold` names to whom. */
export async function tellEnd(
  occurrence: OccurrenceRow,
  schedule: ScheduleRow,
  dependencies: TellDependencies,
): Promise<void> {
  const { store } = dependencies
  const named = occurrence.untold ?? []
  const isOff = named.includes(IS_OFF)
  const entries: Pick<AskEntry, 'through' | 'detail'>[] = named.includes(BY_PREFERENCES)
    ? (await store.settings.preferences(schedule.userId)).ask
    : named
        .filter((name) => name !== IS_OFF)
        .map((through) => ({ through, detail: 'preview' as const }))
  const isShort = named.includes(BY_PREFERENCES)
  for (const { through, detail } of entries) {
    if (through === 'push') await tellBrowsers(schedule.userId, occurrence, dependencies)
    else {
      const length = detail === 'name' ? 0 : isShort ? MAX_PREVIEW : MAX_ANSWER
      const text = await textOf(occurrence, schedule, { isOff, length }, dependencies)
      const name = through.slice('channel:'.length)
      await tellChannel(schedule.userId, { name, text }, dependencies)
    }
  }
}

/** Never throws: whoever cannot be told can still see it. */
async function tellChannel(
  userId: UserId,
  { name, text }: { name: string; text: string },
  { channels, log }: TellDependencies,
): Promise<void> {
  const signal = AbortSignal.timeout(CHANNEL_TIMEOUT_MS)
  try {
    const sent = await channels.send(userId, name, { text, conversationId: null, signal })
    if (sent === null) log.warn({ user_id: userId }, 'a schedule names a channel that is gone')
  } catch (error) {
    log.warn({ err: error, user_id: userId }, 'the end of a scheduled task could not be told')
  }
}

async function tellBrowsers(
  userId: UserId,
  { id, scheduleId, runId, conversationId, state }: OccurrenceRow,
  { push }: TellDependencies,
): Promise<void> {
  if (runId === null || conversationId === null)
    return await push.tellNotRun(userId, { schedule_id: scheduleId, occurrence_id: id })
  await push.tellEnded(userId, {
    run_id: runId,
    conversation_id: conversationId,
    failed: state !== 'done',
  })
}

/** What came of it, in the language of the task. */
async function textOf(
  { state, detail, failure, reason, conversationId, messageId, checks }: OccurrenceRow,
  { name, settings }: ScheduleRow,
  { isOff, length }: { isOff: boolean; length: number },
  { store }: TellDependencies,
): Promise<string> {
  const language = textLanguage(`${name}\n${ScheduleSettings.parse(settings).text}`)
  const { occurrence: texts } = localeTexts(language, 'occurrences')
  const lines = [filled(texts.ended, { name, state: texts.state[state] })]
  // The others say no more than the state does.
  const why = Object.entries(texts.reason).find(([known]) => known === reason)
  if (why !== undefined) lines.push(why[1])
  if (isOff) lines.push(texts.off)
  if (length === 0) return lines.join('\n')
  if (state === 'done' && conversationId !== null && messageId !== null) {
    const answer = (await store.messages.find(conversationId, messageId))?.text ?? ''
    return state === 'done' && !isOff
      ? `${name}\n\n${cut(answer, length)}`
      : [...lines, cut(answer, length)].join('\n\n')
  }
  if (detail !== null) lines.push(cut(refusalIn(language, detail, failure, fillIn), length))
  for (const { check, passed, detail: stored, failure: why = null } of checks) {
    if (passed) continue
    const known = readFinding(stored)
    const found =
      known === null
        ? refusalIn(language, stored, why, fillIn)
        : filled(texts.found[known.finding], known)
    lines.push(`✗ ${lookedAt(check)}: ${found}`)
  }
  return cut(lines.join('\n'), Math.max(length, MAX_PREVIEW))
}

/** What a check looked at: a file, a tool, a text, a channel or a command. */
function lookedAt(check: ScheduleCheck): string {
  if ('file' in check) return check.file
  if ('tool' in check) return check.tool
  if ('answer' in check) return check.value
  return 'sent' in check ? check.sent : check.command
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`
