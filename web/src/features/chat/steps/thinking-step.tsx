// The model's thinking: folded, with its newest line visible while it lasts.
import { Lightbulb } from 'lucide-react'
import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import { ActivityRow } from './activity-row.tsx'

const newestLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.slice(-120) ?? ''

export const ThinkingStep = memo(function ThinkingStep({
  text,
  open,
}: {
  text: string
  open: boolean
}) {
  const { t } = useTranslation()
  return (
    <ActivityRow
      icon={Lightbulb}
      title={open ? t('steps.thinking') : t('steps.thought')}
      summary={open ? newestLine(text) : ''}
      live={open}
    >
      <div className="border-l-2 border-line pl-3.5 text-sm leading-relaxed whitespace-pre-wrap text-soft">
        {text.trim()}
      </div>
    </ActivityRow>
  )
})
