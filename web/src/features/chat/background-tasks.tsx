// What goes on in the background of the conversation, above the field to write in.
import { useQueryClient } from '@tanstack/react-query'
import { Bot, Square } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useBackgroundTasks, useStopBackgroundTask } from '../../lib/api/background.ts'
import { messageKeys } from '../../lib/api/messages.ts'
import { ActionButton } from './action-button.tsx'
import { ApprovalCard } from './approval-card.tsx'

export function BackgroundTasks({ conversationId }: { conversationId: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { data: tasks = [] } = useBackgroundTasks(conversationId)
  const stop = useStopBackgroundTask(conversationId)
  // One fewer than before: its answer is announced in the conversation.
  const before = useRef(tasks.length)
  useEffect(() => {
    if (tasks.length < before.current)
      void client.invalidateQueries({ queryKey: messageKeys.list(conversationId) })
    before.current = tasks.length
  }, [tasks.length, client, conversationId])
  if (tasks.length === 0) return null
  return (
    <section aria-label={t('background.title')} className="mb-2 flex flex-col gap-2">
      {tasks.map((task) => (
        <div key={task.id} className="rounded-2xl border border-line bg-surface px-3.5 py-2">
          <div className="flex items-center gap-2.5 text-sm">
            <Bot size={15} aria-hidden className="shrink-0 animate-breathe text-accent" />
            <span className="min-w-0 flex-1 truncate">{task.task}</span>
            <span className="text-xs text-muted">{t(`background.status.${task.status}`)}</span>
            <ActionButton
              icon={Square}
              label={t('background.stop')}
              onClick={() => stop.mutate(task.id)}
            />
          </div>
          {task.pending_approvals.map((approval) => (
            <div key={approval.id_ref} className="mt-2">
              <ApprovalCard runId={task.id} approval={approval} />
            </div>
          ))}
        </div>
      ))}
    </section>
  )
}
