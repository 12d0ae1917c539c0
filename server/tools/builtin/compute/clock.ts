// The `get_current_time` tool.
import { z } from 'zod'
import { defineTool, fail, succeed, type ToolDefinition } from '../../definition.ts'

const Input = z.object({
  timezone: z
    .string()
    .max(100)
    .optional()
    .describe(
      'IANA name ("Asia/Shanghai"), "UTC" or an offset in whole hours ("UTC+8"). Default: the time zone of the server.',
    ),
})

/** @param now returns the current time; replaced in tests. */
export const createClockTool = (now: () => Date = () => new Date()): ToolDefinition =>
  defineTool({
    name: 'get_current_time',
    description:
      'Returns the current date, time and weekday in a time zone. You do not know the current date: call this whenever it matters ("now", "today", ages, deadlines).',
    category: 'basic',
    riskLevel: 'low',
    timeoutMs: 5_000,
    input: Input,
    handler: async ({ timezone }) => {
      const zone = zoneName(timezone)
      const moment = now()
      try {
        return succeed(describe(moment, zone, timezone))
      } catch {
        return fail(
          `Unknown time zone "${timezone ?? ''}". Use an IANA name such as "Europe/Berlin", "Asia/Shanghai", "America/New_York" or "UTC".`,
        )
      }
    },
  })

/** IANA's names for whole-hour offsets have inverted signs. */
function zoneName(wanted: string | undefined): string {
  const name = wanted?.trim() || Intl.DateTimeFormat().resolvedOptions().timeZone
  const offset = /^(?:UTC|GMT)?([+-])0?(\d{1,2})(?::?00)?$/i.exec(name)
  if (offset === null) return name
  const hours = Number(offset[2])
  return hours === 0 ? 'UTC' : `Etc/GMT${offset[1] === '+' ? '-' : '+'}${hours}`
}

function describe(moment: Date, zone: string, asked: string | undefined): unknown {
  const parts = new Map(
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      calendar: 'iso8601',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      weekday: 'long',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    })
      .formatToParts(moment)
      .map(({ type, value }) => [type, value]),
  )
  const date = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
  const time = `${parts.get('hour')}:${parts.get('minute')}:${parts.get('second')}`
  const offset = (parts.get('timeZoneName') ?? '').replace('GMT', '') || '+00:00'
  return {
    timezone: asked?.trim() || zone,
    datetime: `${date}T${time}${offset}`,
    date,
    time,
    weekday: parts.get('weekday'),
    utc_offset: offset,
    unix: Math.floor(moment.getTime() / 1000),
  }
}
