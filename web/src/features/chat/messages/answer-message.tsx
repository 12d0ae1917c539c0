// An answer: its steps, pending approvals, how it ended, and its actions.
import { Bot, RefreshCw, Trash2 } from 'lucide-react'
import { memo, useEffect, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import type { Step } from '../../../../../server/protocol/runs/step.ts'
import { useReviseAnswer } from '../../../lib/api/messages.ts'
import { ActionButton } from '../../../ui/action-button.tsx'
import { CitationContext } from '../../../ui/markdown/citation-context.ts'
import { PendingApprovals } from '../approvals/pending-approvals.tsx'
import { AttachmentChips } from '../attachments/attachment-chips.tsx'
import { filesOf } from '../attachments/produced-files.ts'
import { PendingInputs } from '../inputs/pending-inputs.tsx'
import { type LiveRun, useLiveRuns, useRunOf } from '../runs/live-runs.ts'
import { SourcesPanel } from '../sources/sources-panel.tsx'
import { citedIn, useAnswerSources } from '../sources/use-answer-sources.tsx'
import { AnswerSteps } from '../steps/answer-steps.tsx'
import { useAnswerFeedback } from './answer-feedback.tsx'
import { AnswerMenu } from './answer-menu.tsx'
import { AnswerUsage } from './answer-usage.tsx'
import { CopyMarkdown, CopyMessage } from './copy-message.tsx'
import { EditForm } from './edit-form.tsx'
import { Ending } from './ending.tsx'
import { SiblingSwitch } from './sibling-switch.tsx'
import { Working } from './working.tsx'

/** Older messages may have only text; it is drawn as one text step. */
const stepsOf = (message: Message): readonly Step[] => {
  const steps = message.process_steps ?? []
  return steps.length > 0 || message.text === ''
    ? steps
    : [{ id: 'step-0', index: 0, type: 'text', content: message.text }]
}

const textOf = (steps: readonly Step[]): string =>
  steps.flatMap((step) => (step?.type === 'text' ? [step.content] : [])).join('\n\n')

/** The stored message is final. */
const isWhole = ({ status }: Message): boolean =>
  status !== 'streaming' && status !== 'awaiting_approval' && status !== 'awaiting_input'

/** The run waits for a person. */
const isWaiting = ({ approvals, inputs }: LiveRun): boolean => approvals.length + inputs.length > 0

/** Approval requests arrive as their previews are ready; they are shown in the order of the calls. */
const inOrderOfCalls = ({ approvals, steps }: LiveRun) => {
  const placeOf = (callId: string): number =>
    steps.findIndex((step) => step?.type === 'tool_call' && step.id_ref === callId)
  return approvals.toSorted((one, other) => placeOf(one.id_ref) - placeOf(other.id_ref))
}

export const AnswerMessage = memo(function AnswerMessage({
  message,
  conversationId,
  task,
  locked,
  onRegenerate,
  onResume,
  onStop,
  onSwitch,
  onDelete,
  onShow,
  editing,
  onEditing,
}: {
  message: Message
  conversationId: string
  /** The background task that this answer announces; null otherwise. */
  task: string | null
  locked: boolean
  onRegenerate: (id: string, model?: string) => void
  onResume: (runId: string) => void
  onStop: () => void
  /** Stops the answer and has another model give it. */
  onSwitch: (id: string, model: string) => void
  onDelete: (id: string) => void
  onShow: (id: MessageId) => void
  editing: boolean
  onEditing: (id: MessageId | null) => void
}) {
  const { t } = useTranslation()
  const live = useRunOf(conversationId, message)
  const running = live?.state === 'running'
  const isReplaced = live !== undefined && !running && isWhole(message)
  const steps =
    live !== undefined && live.steps.length > 0 && !isReplaced ? live.steps : stepsOf(message)
  // Drop the live copy only once the stored message is on the page; earlier, neither would be there for a moment.
  useEffect(() => {
    if (isReplaced) useLiveRuns.getState().drop(conversationId, live.runId)
  }, [isReplaced, conversationId, live?.runId])
  const liveParts = useMemo(
    () =>
      live === undefined || !running
        ? null
        : {
            progress: live.progress,
            startedAt: live.startedAt,
            approvals: live.approvals,
            rejected: live.rejected,
          },
    [live, running],
  )
  const { sources, citations, onOpen, dialog } = useAnswerSources(steps)
  const { buttons, note } = useAnswerFeedback(message, conversationId)
  const revise = useReviseAnswer(conversationId)
  if (editing && !running)
    return (
      <EditForm
        initial={steps.findLast((step) => step?.type === 'text')?.content ?? message.text}
        hint={t('answer.editHint')}
        submit={t('common.save')}
        onCancel={() => onEditing(null)}
        onSubmit={async (text) => {
          await revise.mutateAsync({ id: message.id, text }).then(
            () => onEditing(null),
            // Reported centrally; the form stays, with what was written.
            () => undefined,
          )
        }}
      />
    )
  const usage = live?.usage ?? message.usage ?? null
  return (
    <article
      aria-label={t('message.answer')}
      aria-busy={running}
      className="group/message flex flex-col gap-3"
    >
      {task !== null && (
        <p className="flex items-center gap-2 text-[13px] text-muted">
          <Bot size={14} aria-hidden className="shrink-0" />
          <span className="min-w-0 truncate">{t('background.answerTo', { task })}</span>
        </p>
      )}
      <CitationContext value={citations}>
        <AnswerSteps steps={steps} live={liveParts} />
      </CitationContext>
      <AttachmentChips attachments={filesOf(message, steps)} atEnd={false} />
      {running && (!isWaiting(live) || live.connection === 'reconnecting') && (
        <Working
          live={live}
          model={message.model ?? null}
          onStop={onStop}
          onSwitch={(model) => onSwitch(message.id, model)}
        />
      )}
      {live !== undefined && live.approvals.length > 0 && (
        <PendingApprovals
          conversationId={conversationId}
          runId={live.runId}
          approvals={inOrderOfCalls(live)}
        />
      )}
      {live !== undefined && live.inputs.length > 0 && (
        <PendingInputs conversationId={conversationId} runId={live.runId} inputs={live.inputs} />
      )}
      {!running && (
        <>
          <SourcesPanel sources={sources} cited={citedIn(textOf(steps), sources)} onOpen={onOpen} />
          {dialog}
          <Ending message={message} live={live} onRegenerate={onRegenerate} onResume={onResume} />
          <div className="message-actions -ms-1.5 flex min-h-7 flex-wrap items-center gap-0.5">
            <CopyMessage text={() => textOf(steps)} />
            <CopyMarkdown text={() => textOf(steps)} />
            {buttons}
            <ActionButton
              icon={RefreshCw}
              label={t('message.regenerate')}
              disabled={locked}
              onClick={() => onRegenerate(message.id)}
            />
            <ActionButton
              icon={Trash2}
              label={t('message.delete')}
              disabled={locked}
              onClick={() => onDelete(message.id)}
            />
            <AnswerMenu
              message={message}
              conversationId={conversationId}
              locked={locked}
              onRegenerate={onRegenerate}
              onEdit={() => onEditing(message.id)}
            />
            <SiblingSwitch
              id={message.id}
              siblings={message.siblings}
              disabled={locked}
              onShow={onShow}
            />
            <AnswerUsage
              usage={usage}
              tokens={usage?.completion_tokens ?? message.token_count}
              model={message.model ?? null}
              timing={message.timing ?? null}
            />
            {message.edited_from !== undefined && (
              <span className="px-1.5 text-xs text-muted">{t('answer.edited')}</span>
            )}
          </div>
          {note}
        </>
      )}
    </article>
  )
})
