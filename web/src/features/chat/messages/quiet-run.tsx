// One line in place of a scheduled run that found nothing to report.
import { ChevronRight } from 'lucide-react'
import { briefTime } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../ui/class-names.ts'

/** Opens and folds what the run was asked and did. */
export function QuietRun({
  at,
  isOpen,
  onToggle,
}: {
  at: string
  isOpen: boolean
  onToggle: () => void
}) {
  const { t, i18n } = useTranslation()
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      className="touch-target flex items-center gap-1.5 py-1 text-note text-muted tabular-nums hover:text-ink"
      onClick={onToggle}
    >
      <ChevronRight
        size={14}
        aria-hidden
        className={classNames(
          'shrink-0 transition-transform rtl:-scale-x-100',
          isOpen && 'rotate-90',
        )}
      />
      {t('schedules.lastTime', {
        state: t('occurrence.state.quiet'),
        time: briefTime(at, i18n.language),
      })}
    </button>
  )
}
