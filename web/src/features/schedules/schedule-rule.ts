// The times of a schedule as the form asks for them, and as the request says them.
import { browserZone } from '../../lib/browser/zone.ts'
import type { Schedule } from './api/schedules.ts'

/** How often, as a person chooses it. */
export const RULE_KINDS = ['daily', 'weekdays', 'weekly', 'every', 'once', 'cron', 'hook'] as const
export type RuleKind = (typeof RULE_KINDS)[number]

export const INTERVALS = ['15m', '30m', '1h', '6h', '12h', '1d', '7d'] as const

/** What the fields of the form hold; those of other kinds stay while the kind changes. */
export interface Rule {
  kind: RuleKind
  /** `HH:MM`. */
  time: string
  /** From 0, Sunday. */
  weekday: number
  every: string
  /** `YYYY-MM-DDTHH:MM`, in the zone of this browser. */
  at: string
  cron: string
  zone: string
}

const FIRST: Rule = {
  kind: 'weekdays',
  time: '08:00',
  weekday: 1,
  every: '1d',
  at: '',
  cron: '',
  zone: '',
}

/** The rule of the form for a schedule; a new one without one. */
export function ruleOf(when: Schedule['when'] | undefined): Rule {
  const first = { ...FIRST, zone: browserZone() }
  if (when === undefined) return first
  if ('hook' in when) return { ...first, kind: 'hook' }
  if ('every' in when) return { ...first, kind: 'every', every: when.every }
  if ('at' in when) return { ...first, kind: 'once', at: localTime(new Date(when.at)) }
  const base = { ...first, zone: when.tz ?? first.zone, cron: when.cron }
  const [, minute, hour, days] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|[0-6])$/.exec(when.cron) ?? []
  if (minute === undefined || hour === undefined || days === undefined)
    return { ...base, kind: 'cron' }
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (days === '*') return { ...base, kind: 'daily', time }
  if (days === '1-5') return { ...base, kind: 'weekdays', time }
  return { ...base, kind: 'weekly', time, weekday: Number(days) }
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')
const localTime = (date: Date): string =>
  `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`

/** The cron pattern of a rule; null if it has none, or is not written yet. */
function cronOf({ kind, time, weekday, cron }: Rule): string | null {
  if (kind === 'cron') return cron.trim() === '' ? null : cron.trim()
  const days =
    kind === 'daily' ? '*' : kind === 'weekdays' ? '1-5' : kind === 'weekly' ? weekday : null
  const [hour, minute] = time.split(':')
  if (days === null || hour === undefined || minute === undefined) return null
  return `${Number(minute)} ${Number(hour)} * * ${days}`
}

/** What the request says; null while something is missing. */
export function whenOf(
  rule: Rule,
): { at: string } | { cron: string; tz: string } | { every: string } | { hook: true } | null {
  if (rule.kind === 'hook') return { hook: true }
  if (rule.kind === 'every') return { every: rule.every }
  if (rule.kind === 'once') {
    const at = new Date(rule.at)
    return Number.isNaN(at.getTime()) ? null : { at: at.toISOString() }
  }
  const cron = cronOf(rule)
  return cron === null ? null : { cron, tz: rule.zone }
}

/** The name of a weekday, from 0, Sunday. */
export const weekdayName = (day: number, language: string): string =>
  new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' }).format(
    Date.UTC(2024, 0, 7 + day),
  )

const UNITS: Readonly<Record<string, string>> = { m: 'minute', h: 'hour', d: 'day' }

/** An interval such as `15m` in words. */
export const intervalInWords = (every: string, language: string): string =>
  new Intl.NumberFormat(language, {
    style: 'unit',
    unit: UNITS[every.slice(-1)] ?? 'minute',
    unitDisplay: 'long',
  }).format(Number(every.slice(0, -1)))

/** A due time in words, in the zone of the rule. */
export const timeInWords = (iso: string, language: string, zone?: string): string =>
  new Intl.DateTimeFormat(language, {
    dateStyle: 'full',
    timeStyle: 'short',
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).format(new Date(iso))
