// The time zone of this browser.

/** The name of the zone, such as `Europe/Berlin`. */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const HALF_A_YEAR_MS = 182 * 24 * 3_600_000

/** The distance to UTC, such as `GMT+02:00`. */
const offsetAt = (time: number, timeZone: string): string =>
  Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(time)
    .find(({ type }) => type === 'timeZoneName')?.value ?? ''

/** Whether clocks show the same here as in the zone, in summer and in winter: many zones have several names. */
export function isBrowserZone(zone: string): boolean {
  const own = browserZone()
  const moments = [Date.now(), Date.now() + HALF_A_YEAR_MS]
  return own === zone || moments.every((time) => offsetAt(time, own) === offsetAt(time, zone))
}
