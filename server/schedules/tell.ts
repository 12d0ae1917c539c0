// Tells a person what came of an occurrence, through what the schedule or the person's preferences name.

import type { OccurrenceRow } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import { filled, localeTexts, refusalIn } from '../lib/locale-texts.ts'
import { textLanguage } from '../lib/text-language.ts'
import type { AskEntry } from '../protocol/accounts/preferences.ts'
import { fillIn } from '../protocol/failures/failures.ts'
import type { UserId } from '../protocol/ids.ts'
import { readFinding } from '../protocol/schedules/check-finding.ts'
import type { OccurrenceState, ScheduleCheck } from '../protocol/schedules/schedule.ts'
import { ScheduleSettings } from './settings.ts'

/** Characters of an answer that a channel is sent. */
const MAX_ANSWER = 3_500
const MAX_PREVIEW = 1_000
/** Stands for the list `ask` of the preferences. */
const BY_PREFERENCES = 'ask'
/** Stands for the notice that the schedule is off now. */
const IS_OFF = 'off'

/** What telling needs. */
export interface TellDependencies {
  store: Store
  /** Sends a text through a channel of the user. Never throws. */
  tellChannel(userId: UserId, name: string, text: string): Promise<void>
  /** Sends a notification to the browsers of the user. Never throws. */
  tellPush(userId: UserId, occurrence: OccurrenceRow): Promise<void>
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
    if (through === 'push') await dependencies.tellPush(schedule.userId, occurrence)
    else {
      const length = detail === 'name' ? 0 : isShort ? MAX_PREVIEW : MAX_ANSWER
      const text = await textOf(occurrence, schedule, { isOff, length }, dependencies)
      await dependencies.tellChannel(schedule.userId, through.slice('channel:'.length), text)
    }
  }
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
