// The schedule whose runs a conversation holds: what came of the last time, and when the next one is.
import { CalendarClock } from 'lucide-react'
import { Link } from 'wouter'
import { useSchedule } from '../../lib/api/schedules.ts'
import { briefTime } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'

/** Nothing for a conversation that a person made, or whose schedule was deleted. */
export function ScheduleLine({ scheduleId }: { scheduleId: string | undefined }) {
  const { t, i18n } = useTranslation()
  const { data: schedule } = useSchedule(scheduleId)
  if (schedule == null) return null
  const { id, name, last, next_at: next, enabled, when } = schedule
  const isBad = last !== null && ['failed', 'unmet', 'missed'].includes(last.state)
  return (
    <aside
      aria-label={t('schedules.line')}
      className="shrink-0 border-line border-b py-2 text-sm max-sm:py-1"
    >
      <div className="mx-auto flex max-w-3xl flex-wrap items-center gap-x-3 px-5 max-sm:px-4">
        <Link
          href={paths.schedule(id)}
          className="touch-target inline-flex min-w-0 max-w-full items-center gap-2 font-medium underline-offset-3 hover:underline max-sm:basis-full"
        >
          <CalendarClock size={15} aria-hidden className="shrink-0 text-muted" />
          <span dir="auto" className="truncate">
            {name}
          </span>
        </Link>
        {last !== null && (
          <span className={`text-note tabular-nums ${isBad ? 'text-bad' : 'text-muted'}`}>
            {t('schedules.lastTime', {
              state: t(`occurrence.state.${last.state}`),
              time: briefTime(last.due_at, i18n.language),
            })}
          </span>
        )}
        {!('hook' in when) && (
          <span className="text-note text-muted tabular-nums">
            {next === null || !enabled
              ? t('schedules.noNext')
              : t('schedules.next', { time: briefTime(next, i18n.language) })}
          </span>
        )}
      </div>
    </aside>
  )
}
