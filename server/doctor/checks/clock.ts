// Checks the clock of this machine against those of the database and of a provider.
import type { DatabaseSettings } from '../../db/database.ts'
import { inspectTime } from '../../db/inspect.ts'
import { type Finding, fine } from '../finding.ts'

const TIMEOUT_MS = 5_000
/** A `Date` header has whole seconds. */
const HEADER_STEP_MS = 1_000
/** Below this, tokens, codes of second factors and schedules work as they should. */
const TOLERATED_MS = 10_000

/** A clock, and how far it is ahead of that of this machine. */
interface Reading {
  name: string
  /** Milliseconds. */
  ahead: number
  /** How wrong `ahead` may be. */
  within: number
}

/** No findings if there is no clock to compare with. @param providerUrl a provider whose responses have a date; null for none. */
export async function checkClock(
  database: DatabaseSettings,
  providerUrl: string | null,
): Promise<Finding[]> {
  const readings = await Promise.all([
    database.dialect === 'postgres'
      ? reading('PostgreSQL', 0, () => inspectTime(database))
      : undefined,
    providerUrl === null
      ? undefined
      : reading(new URL(providerUrl).host, HEADER_STEP_MS, () => timeOf(providerUrl)),
  ])
  const known = readings.filter((one) => one !== undefined)
  if (known.length === 0) return []
  const subject = 'clock'
  const wrong = known.filter(({ ahead, within }) => Math.abs(ahead) - within > TOLERATED_MS)
  const [first] = wrong
  if (first === undefined) {
    const names = known.map(({ name }) => name).join(', ')
    return [fine('clock_ok', subject, `agrees with that of ${names}`, { names })]
  }
  const seconds = Math.round(Math.abs(first.ahead) / 1_000)
  const isBehind = first.ahead > 0
  return [
    {
      state: 'warn',
      code: isBehind ? 'clock_behind' : 'clock_ahead',
      params: { name: first.name, seconds },
      subject,
      detail: `${seconds} seconds ${isBehind ? 'behind' : 'ahead of'} that of ${first.name}`,
      advice:
        'Set the clocks of all machines by the network (systemd: timedatectl set-ntp true). Until then, codes of authenticator apps and sign-ins through others may be refused, and schedules run at the wrong time.',
    },
  ]
}

/** Undefined if the clock cannot be read, which another finding explains. */
async function reading(
  name: string,
  step: number,
  read: () => Promise<number>,
): Promise<Reading | undefined> {
  const before = Date.now()
  try {
    const theirs = await read()
    const after = Date.now()
    return { name, ahead: theirs - (before + after) / 2, within: (after - before) / 2 + step }
  } catch {
    return undefined
  }
}

async function timeOf(url: string): Promise<number> {
  const response = await fetch(url, {
    method: 'HEAD',
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const time = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(time)) throw new Error('The response has no date')
  return time
}
