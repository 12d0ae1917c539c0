// Shows that the run is alive while nothing else moves: it is working, waiting to retry, or disconnected.
import { Clock, WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRefusalText } from '../../../lib/refusal-text.ts'
import type { LiveRun } from '../runs/live-runs.ts'

export function Working({ live }: { live: LiveRun }) {
  const { t } = useTranslation()
  if (live.connection === 'reconnecting')
    return (
      <p className="flex items-center gap-2 text-sm text-warn">
        <WifiOff size={14} aria-hidden /> {live.trouble ?? t('chat.reconnecting')}
      </p>
    )
  if (live.retry !== null) return <Retrying retry={live.retry} />
  const last = live.steps.at(-1)
  if (last !== undefined && last.type !== 'tool_result') return null
  return (
    <span aria-hidden className="flex h-6 items-center gap-1.5">
      <i className="size-1.5 animate-breathe rounded-full bg-accent" />
      <i className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:200ms]" />
      <i className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:400ms]" />
    </span>
  )
}

/** Why the model call is retried, and in how many seconds. */
function Retrying({ retry }: { retry: NonNullable<LiveRun['retry']> }) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.ceil((retry.at - now) / 1_000))
  return (
    <p className="flex items-start gap-2 text-sm text-warn">
      <Clock size={14} aria-hidden className="mt-0.5 shrink-0" />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {refusalText(retry)}{' '}
        <span className="tabular-nums">
          {seconds === 0 ? t('chat.retryingNow') : t('chat.retryingIn', { count: seconds })}
        </span>
      </span>
    </p>
  )
}
