// Tells a screen reader how a run stands: that it works, that it asks, that it is done. Never the text token by token.
import { useTranslation } from 'react-i18next'
import type { LiveRun } from './live-runs.ts'
import { toolTitle } from './steps/tool-content.ts'

export function Announcer({ live }: { live: LiveRun | undefined }) {
  const { t } = useTranslation()
  const [asked] = live?.approvals ?? []
  const text =
    live === undefined
      ? ''
      : asked !== undefined
        ? t('approval.question', { tool: toolTitle(asked.name) })
        : live.connection === 'reconnecting'
          ? t('chat.reconnecting')
          : live.state === 'running'
            ? t('chat.answering')
            : t(live.state === 'error' ? 'message.failed' : 'chat.answered')
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {text}
    </p>
  )
}
