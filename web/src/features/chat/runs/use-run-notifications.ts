// Notifies a user who is not looking at the page that an answer is ready, has failed, or waits. Shows none of its content.
import { useEffect } from 'react'
import { notifyAway } from '../../../lib/browser/notifications.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { type LiveRun, useLiveRuns } from './live-runs.ts'

const waits = ({ approvals, inputs }: LiveRun): number => approvals.length + inputs.length

/** Use it once per page. `onOpen` receives the id of the conversation whose notification was clicked. */
export function useRunNotifications(onOpen: (conversationId: string) => void): void {
  const { t } = useTranslation()
  useEffect(
    () =>
      useLiveRuns.subscribe(({ byId }, { byId: before }) => {
        for (const [id, run] of Object.entries(byId)) {
          const old = before[id]
          if (run === undefined || old === undefined || old === run) continue
          const key =
            old.state === 'running' && run.state !== 'running'
              ? run.state === 'done'
                ? 'chat.ready'
                : 'chat.notReady'
              : waits(run) > waits(old)
                ? 'chat.waiting'
                : null
          if (key !== null) notifyAway(t(key), `run ${run.runId}`, () => onOpen(run.conversationId))
        }
      }),
    [t, onOpen],
  )
}
