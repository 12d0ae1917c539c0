// Announces to screen readers how a run stands: answering, waiting for approval, done. Never the text token by token.
import { useTranslation } from 'react-i18next'
import { toolTitle } from '../../../lib/tool-title.ts'
import { useLiveRuns } from './live-runs.ts'

/** An invisible live region; one for each open conversation. */
export function Announcer({ conversationId }: { conversationId: string }) {
  const { t } = useTranslation()
  const text = useLiveRuns(({ byConversation }) => {
    const live = byConversation[conversationId]
    if (live === undefined) return ''
    const [asked] = live.approvals
    if (asked !== undefined) return t('approval.allowTool', { tool: toolTitle(asked.name, t) })
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
