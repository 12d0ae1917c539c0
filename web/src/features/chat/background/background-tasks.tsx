// The background tasks of the conversation, above the composer.
import { useQueryClient } from '@tanstack/react-query'
import { Activity, Bot, Square } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { messageKeys } from '../../../lib/api/messages.ts'
import { refusalText } from '../../../lib/http/refusal-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { LateApprovalCard } from '../approvals/late-approval-card.tsx'
import { inspectRun } from '../inspected-run.ts'
import { isOver, useBackgroundTasks, useStopBackgroundTask } from './api/background.ts'

/** Lists unfinished tasks with their approval requests and a stop button each. A notice appears when a task ends. */
export function BackgroundTasks({ conversationId }: { conversationId: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { data: all } = useBackgroundTasks(conversationId)
  const tasks = (all ?? []).filter((task) => !isOver(task))
  const stop = useStopBackgroundTask(conversationId)
  const before = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const ended = (all ?? []).filter((task) => isOver(task) && before.current.has(task.id))
    before.current = new Set((all ?? []).filter((task) => !isOver(task)).map(({ id }) => id))
    // A task with an announcement appears as an answer in the conversation; only others need a notice.
    if (ended.length > 0)
      void client.invalidateQueries({ queryKey: messageKeys.list(conversationId) })
    for (const { status, task, error, reason, params, announce } of ended) {
      if (status === 'failed')
        notify(
          t('background.failed', {
            task,
            error: refusalText({ reason, params, message: error ?? '' }),
          }),
          'error',
        )
      else if (status === 'completed' && !announce) notify(t('background.done', { task }))
    }
  }, [all, client, conversationId, t])
  if (tasks.length === 0) return null
  const approvals = tasks.flatMap((task) => task.pending_approvals)
  return (
    <section aria-label={t('background.title')} className="mb-2">
      <ul className="flex flex-col gap-2">
        {tasks.map((task) => (
          <li key={task.id} className="rounded-2xl border border-line bg-surface px-3.5 py-2">
            <div className="flex items-center gap-2.5 text-sm">
              <Bot size={15} aria-hidden className="shrink-0 animate-breathe text-accent" />
              <span className="min-w-0 flex-1 truncate">{task.task}</span>
              <span className="text-xs text-muted">{t(`background.status.${task.status}`)}</span>
              <ActionButton
                icon={Activity}
                label={t('answer.inspect')}
                onClick={() => inspectRun(task.id)}
              />
              <ActionButton
                icon={Square}
                label={t('background.stop')}
                onClick={() => stop.mutate(task.id)}
              />
            </div>
            {task.pending_approvals.map((approval) => {
              const number = approvals.indexOf(approval) + 1
              return (
                <div key={approval.id_ref} className="mt-2">
                  <LateApprovalCard
                    runId={task.id}
                    approval={approval}
                    place={approvals.length > 1 ? { number, total: approvals.length } : null}
                    folded={number > 1}
                  />
                </div>
              )
            })}
          </li>
        ))}
      </ul>
    </section>
  )
}
