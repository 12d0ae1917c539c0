// Numbers, sizes and times for people, in the page's language.

/** 950 -> "950", 7086 -> "7,086" where the language has no "7.1K", 12345 -> "12.3k", 2100000 -> "2.1M". */
export const compactNumber = (value: number, language: string): string =>
  new Intl.NumberFormat(language, {
    notation: 'compact',
    maximumFractionDigits: 1,
    // Otherwise four digits have no separator here, but one in `wholeNumber`.
    useGrouping: true,
  }).format(value)

/** 12345 -> "12,345", with the digit grouping of the language. */
export const wholeNumber = (value: number, language: string): string =>
  new Intl.NumberFormat(language).format(value)

/**
 * The form of numbers that stand beside each other, one for all: whole numbers, or compact ones if the largest is `from` or
 * more. Otherwise Chinese would have "8,500 / 1万".
 */
export const numbersAlike = (
  values: readonly number[],
  language: string,
  from = 10_000_000,
): ((value: number) => string) => {
  const form = Math.max(0, ...values) < from ? wholeNumber : compactNumber
  return (value) => form(value, language)
}

/** 0.752 -> "75%". */
export const percent = (share: number, language: string): string =>
  new Intl.NumberFormat(language, { style: 'percent' }).format(share)

/** An amount in the notation of the language, such as "$0.82"; below a cent, with two significant digits. */
export const money = (amount: number, currency: string, language: string): string => {
  const digits =
    amount !== 0 && Math.abs(amount) < 0.01
      ? { maximumSignificantDigits: 2 }
      : { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  try {
    const options = { style: 'currency', currency, ...digits } as const
    return new Intl.NumberFormat(language, options).format(amount)
  } catch {
    // The configured currency may not be a currency code.
    return `${new Intl.NumberFormat(language, digits).format(amount)} ${currency}`
  }
}

type Unit = 'ms' | 's' | 'min' | (typeof SIZE_UNITS)[number]

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB'] as const

/** Symbols of languages that do not use the international ones. */
const SYMBOLS: Readonly<Record<string, Partial<Record<Unit, string>>>> = {
  zh: { ms: '毫秒', s: '秒', min: '分' },
  ja: { ms: 'ミリ秒', s: '秒', min: '分' },
  ko: { ms: '밀리초', s: '초', min: '분' },
  fr: { B: 'o', KB: 'Ko', MB: 'Mo', GB: 'Go' },
  ru: { ms: 'мс', s: 'с', min: 'мин', B: 'Б', KB: 'КБ', MB: 'МБ', GB: 'ГБ' },
}

/** A number with its unit: (1.24, 's', 'de', 1) -> "1,2 s". `digits` is the number of decimal places. */
function withUnit(value: number, unit: Unit, language: string, digits = 0): string {
  const shown = new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value)
  return `${shown} ${SYMBOLS[language.slice(0, 2)]?.[unit] ?? unit}`
}

/** Seconds as "0.02 s", "3.4 s", "2 min 5 s"; in German "3,4 s". */
export const duration = (seconds: number, language: string): string => {
  if (seconds < 0.01) return `< ${withUnit(0.01, 's', language, 2)}`
  if (seconds < 0.095) return withUnit(seconds, 's', language, 2)
  if (seconds < 9.95) return withUnit(seconds, 's', language, 1)
  const whole = Math.round(seconds)
  if (whole < 60) return withUnit(whole, 's', language)
  return `${withUnit(Math.floor(whole / 60), 'min', language)} ${withUnit(whole % 60, 's', language)}`
}

/** Milliseconds as "0 s", "35 ms", and from one second like `duration`. For views that compare short calls. */
export const fineDuration = (ms: number, language: string): string => {
  if (ms <= 0) return withUnit(0, 's', language)
  return ms < 999.5 ? withUnit(ms, 'ms', language) : duration(ms / 1_000, language)
}

const LONG_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** Seconds in the largest unit of which they are a whole number, in words: "8 hours", "1 day", "90 minutes". */
export const longDuration = (seconds: number, language: string): string => {
  const [unit, length] = LONG_UNITS.find(([, size]) => seconds % size === 0) ?? ['second', 1]
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(
    seconds / length,
  )
}

/** The names of `Intl.NumberFormat` for the units of measurements that tools report. */
const MEASURES: Readonly<Record<string, string>> = {
  '°': 'degree',
  '°C': 'celsius',
  '°F': 'fahrenheit',
  'km/h': 'kilometer-per-hour',
  'm/s': 'meter-per-second',
  mph: 'mile-per-hour',
}

/** A measurement in whole units, as the language writes it: (23.6, '°C', 'de') -> "24 °C". */
export function measure(value: number, unit: string, language: string): string {
  // Never a negative zero.
  const whole = Math.round(value) + 0
  if (unit === '%') return new Intl.NumberFormat(language, { style: 'percent' }).format(whole / 100)
  const known = MEASURES[unit]
  if (known === undefined) return `${new Intl.NumberFormat(language).format(whole)} ${unit}`
  const unitDisplay = unit === '°' ? 'narrow' : 'short'
  return new Intl.NumberFormat(language, { style: 'unit', unit: known, unitDisplay })
    .format(whole)
    .replace('-', '−')
}

/** The time that something has been running, in whole seconds: "3 s", "2 min 5 s". */
export const elapsed = (seconds: number, language: string): string =>
  seconds < 60
    ? withUnit(Math.floor(seconds), 's', language)
    : duration(Math.floor(seconds), language)

/** 1536 -> "1.5 KB", in French "1,5 Ko". One unit is 1024 of the previous one. */
export const fileSize = (bytes: number, language: string): string => {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < SIZE_UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return withUnit(value, SIZE_UNITS[unit] ?? 'B', language, value < 9.95 && unit > 0 ? 1 : 0)
}

const startOfDay = (date: Date): number =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()

/** An age in days of the user's time zone. */
export type DayGroup = 'today' | 'yesterday' | 'week' | 'month' | 'older'

const GROUP_DAYS: readonly [DayGroup, number][] = [
  ['today', 0],
  ['yesterday', 1],
  ['week', 7],
  ['month', 30],
]

/**
 * The groups of the conversation list, newest first, each with its first moment as ISO 8601 in UTC, which compares with the
 * server's times as a string. Everything before the last group is `older`.
 */
export const startsOfGroups = (now: Date): { group: DayGroup; from: string }[] =>
  GROUP_DAYS.map(([group, days]) => ({
    group,
    from: new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).toISOString(),
  }))

/** The time of day for today, the date otherwise. */
export const shortTime = (iso: string, language: string, now = new Date()): string => {
  const date = new Date(iso)
  return startOfDay(date) === startOfDay(now)
    ? date.toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString(language, { month: 'short', day: 'numeric' })
}

/** The time of day, with the date unless it is today. */
export const briefTime = (iso: string, language: string, now = new Date()): string => {
  const date = new Date(iso)
  const isToday = startOfDay(date) === startOfDay(now)
  return date.toLocaleString(language, {
    ...(isToday ? {} : { month: 'short', day: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
  })
}

/** The date of an ISO timestamp in the user's time zone, in the form that `fullTime` has. */
export const fullDay = (iso: string, language: string): string =>
  new Date(iso).toLocaleDateString(language, { dateStyle: 'medium' })

/** Date and time of an ISO timestamp in the user's time zone. */
export const fullTime = (iso: string, language: string): string =>
  new Date(iso).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' })

/** The fields of forms that hold a date or a time. */
export type MomentType = 'date' | 'time' | 'datetime-local'

/** The value of such a field, in the form in which the page writes dates and times; '' if it is none. */
export function momentText(type: MomentType, value: string, language: string): string {
  // Without a zone, a date with a time is one of this zone.
  const iso = { date: `${value}T00:00`, time: `2000-01-01T${value}`, 'datetime-local': value }[type]
  const moment = new Date(iso)
  if (value === '' || Number.isNaN(moment.getTime())) return ''
  return moment.toLocaleString(language, {
    ...(type === 'time' ? {} : { dateStyle: 'medium' }),
    ...(type === 'date' ? {} : { timeStyle: 'short' }),
  })
}

/** What stands between two texts: nothing after full-width punctuation, which brings its own gap. */
export const gapAfter = (text: string): string => (/[：，。！？；]$/.test(text) ? '' : ' ')
