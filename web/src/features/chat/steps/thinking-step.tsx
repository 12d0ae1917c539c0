// The model's thinking: folded, with its newest line visible while it thinks.
import { Lightbulb } from 'lucide-react'
import { memo } from 'react'
import { duration } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActivityRow } from './activity-row.tsx'

/** Shorter durations are not shown. */
const MIN_SHOWN_MS = 1_000

const newestLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.slice(-120) ?? ''

/** `open`: whether the model is still thinking. */
export const ThinkingStep = memo(function ThinkingStep({
  text,
  open,
  durationMs,
}: {
  text: string
  open: boolean
  /** How long the model thought; null if unknown. */
  durationMs: number | null
}) {
  const { t, i18n } = useTranslation()
  return (
    <ActivityRow
      icon={Lightbulb}
      title={
        open
          ? t('steps.thinking')
          : durationMs === null || durationMs < MIN_SHOWN_MS
            ? t('steps.thought')
            : t('steps.thoughtFor', { time: duration(durationMs / 1_000, i18n.language) })
      }
      summary={open ? newestLine(text) : ''}
      live={open}
    >
      <div className="border-s-2 border-line ps-3.5 text-sm leading-relaxed whitespace-pre-wrap text-soft">
        {text.trim()}
      </div>
    </ActivityRow>
  )
})
