// Announces the state of a run to screen readers: answering, waiting for approval, done; never the text token by token.

import { approvalQuestion } from '../../../lib/approval-question.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { mainRunIn, useLiveRuns } from './live-runs.ts'

/** An invisible live region; one per open conversation. */
export function Announcer({ conversationId }: { conversationId: string }) {
  const { t } = useTranslation()
  const text = useLiveRuns((runs) => {
    const live = mainRunIn(runs, conversationId)
    if (live === undefined) return ''
    const [approval] = live.approvals
    if (approval !== undefined) return approvalQuestion(approval, t)
    const [input] = live.inputs
    if (input !== undefined) return t('input.heading', { server: input.server })
    if (live.connection === 'reconnecting') return live.trouble ?? t('chat.reconnecting')
    if (live.state === 'running') return t('chat.answering')
    return t(live.state === 'error' ? 'message.failed' : 'chat.answered')
  })
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {text}
    </p>
  )
}
