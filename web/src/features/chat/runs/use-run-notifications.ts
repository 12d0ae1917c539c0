// Notifies a reader who is elsewhere that an answer is ready, has failed, or waits for them. Nothing of its content is shown.
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { notifyAway } from '../../../lib/browser/notifications.ts'
import { type LiveRun, useLiveRuns } from './live-runs.ts'

const waits = ({ approvals, inputs }: LiveRun): number => approvals.length + inputs.length

/** Once for the whole page. `onOpen` receives the conversation whose notification was clicked. */
export function useRunNotifications(onOpen: (conversationId: string) => void): void {
  const { t } = useTranslation()
  useEffect(
    () =>
      useLiveRuns.subscribe(({ byConversation }, { byConversation: before }) => {
        for (const [id, run] of Object.entries(byConversation)) {
          const old = before[id]
          if (run === undefined || old === undefined || old === run || old.runId !== run.runId)
            continue
          const key =
            old.state === 'running' && run.state !== 'running'
              ? run.state === 'done'
                ? 'chat.ready'
                : 'chat.notReady'
              : waits(run) > waits(old)
                ? 'chat.waiting'
                : null
          if (key !== null) notifyAway(t(key), `run ${run.runId}`, () => onOpen(id))
        }
      }),
    [t, onOpen],
  )
}
