// Shows that the run is alive while nothing else changes: working, waiting to retry, or disconnected.
import { Clock, Square, WifiOff } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useRefusalText } from '../../../lib/http/refusal-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import type { LiveRun } from '../runs/live-runs.ts'
import { Breathing } from '../sending/outgoing-message.tsx'
import { OtherModel } from './other-model.tsx'

/**
 * A line below the steps of the active run. While a model call waits for its retry, it offers to stop or to use another
 * model.
 */
export function Working({
  live,
  model,
  onStop,
  onSwitch,
}: {
  live: LiveRun
  /** The model of the answer; null while unknown. */
  model: string | null
  onStop: () => void
  onSwitch: (model: string) => void
}) {
  const { t } = useTranslation()
  if (live.connection === 'reconnecting')
    return (
      <p className="flex items-center gap-2 text-sm text-warn">
        <WifiOff size={14} aria-hidden /> {live.trouble ?? t('chat.reconnecting')}
      </p>
    )
  if (live.retry !== null)
    return (
      <Retrying retry={live.retry}>
        <Button size="small" tone="quiet" icon={Square} onClick={onStop}>
          {t('composer.stop')}
        </Button>
        <OtherModel current={model} onChoose={onSwitch} />
      </Retrying>
    )
  const last = live.steps.at(-1)
  if (last !== undefined && last.type !== 'tool_result') return null
  return <Breathing />
}

/** Shows why the model call is retried and in how many seconds. `children` are other options of the user. */
function Retrying({
  retry,
  children,
}: {
  retry: NonNullable<LiveRun['retry']>
  children: ReactNode
}) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.ceil((retry.at - now) / 1_000))
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-xl bg-warn-soft px-3.5 py-2">
      <p className="flex min-w-[min(100%,24rem)] flex-1 items-start gap-2 py-1 text-sm text-warn">
        <Clock size={14} aria-hidden className="mt-0.5 shrink-0" />
        <span className="min-w-0 [overflow-wrap:anywhere]">
          {refusalText(retry)}{' '}
          <span className="block tabular-nums">
            {seconds === 0 ? t('chat.retryingNow') : t('chat.retryingIn', { count: seconds })}
          </span>
        </span>
      </p>
      <div className="-mx-2 flex flex-wrap items-center">{children}</div>
    </div>
  )
}
