// An independent reading of when a pattern is due: what a clock of a zone shows, minute after minute.

const MINUTE = 60_000

/** Zones whose clocks change at different hours, by half an hour, on the southern hemisphere, by law from year to year, or never. */
export const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'America/Santiago',
]

/** What a clock shows. */
export interface Shown {
  minute: number
  hour: number
  day: number
  month: number
  weekday: number
}

/** What clocks in the zone show at each minute between the two instants. */
export function shownMinutes(
  zone: string,
  from: number,
  to: number,
): { instant: number; wall: number }[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
    hourCycle: 'h23',
  })
  const minutes = []
  for (let instant = from; instant <= to; instant += MINUTE) {
    const [, day, month, year, hour, minute] =
      /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+)$/.exec(format.format(instant)) ?? []
    const wall = Date.UTC(
      Number(year),
      Number(month) - 1,
      Number(day),
      Number(hour),
      Number(minute),
    )
    minutes.push({ instant, wall })
  }
  return minutes
}

const shown = (wall: number): Shown => {
  const date = new Date(wall)
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
  }
}

/** Due minutes as the rules say: a missing time at the end of its gap, a repeated one once unless the hour is a star. */
export function dueMinutes(
  minutes: readonly { instant: number; wall: number }[],
  matches: (time: Shown) => boolean,
  isEveryHour: boolean,
): number[] {
  const due: number[] = []
  const seen = new Set<number>()
  let last: number | undefined
  for (const { instant, wall } of minutes) {
    let isDue = false
    for (let missing = (last ?? wall) + MINUTE; missing < wall; missing += MINUTE)
      if (matches(shown(missing))) isDue = true
    if (matches(shown(wall)) && (isEveryHour || !seen.has(wall))) isDue = true
    if (isDue) due.push(instant)
    seen.add(wall)
    last = wall
  }
  return due
}

const HOUR = 60 * MINUTE

/** The hours of a year after which clocks in the zone show another time than an hour later. */
export function clockChanges(zone: string, year: number): number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offsetAt = (instant: number): string =>
    format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const changes: number[] = []
  for (let hour = Date.UTC(year, 0, 1); hour < Date.UTC(year + 1, 0, 1); hour += HOUR)
    if (offsetAt(hour) !== offsetAt(hour + HOUR)) changes.push(hour)
  return changes
}
