// An answer: its steps, pending approvals and inputs, its ending, and its actions.
import { Bot } from 'lucide-react'
import { memo, useEffect, useMemo } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import type { Step } from '../../../../../server/protocol/runs/step.ts'
import { citedIn } from '../../../../../server/protocol/sources/cited.ts'
import { useReviseAnswer } from '../../../lib/api/messages.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { CitationContext } from '../../../ui/markdown/citation-context.ts'
import { AttachmentChips } from '../attachments/attachment-chips.tsx'
import { filesOf } from '../attachments/produced-files.ts'
import { useLiveRuns, useRunOf, waitsForPerson } from '../runs/live-runs.ts'
import { SourcesPanel } from '../sources/sources-panel.tsx'
import { useAnswerSources } from '../sources/use-answer-sources.tsx'
import { AnswerSteps } from '../steps/answer-steps.tsx'
import { AnswerActions } from './answer-actions.tsx'
import { useAnswerFeedback } from './answer-feedback.tsx'
import { EditForm } from './edit-form.tsx'
import { Ending } from './ending.tsx'
import { MessageHeading } from './message-heading.tsx'
import { PendingDecisions } from './pending-decisions.tsx'
import { Working } from './working.tsx'

/** The steps of a message. Older messages may have only a text, which becomes one text step. */
const stepsOf = (message: Message): readonly Step[] => {
  const steps = message.process_steps ?? []
  return steps.length > 0 || message.text === ''
    ? steps
    : [{ id: 'step-0', index: 0, type: 'text', content: message.text }]
}

const textOf = (steps: readonly Step[]): string =>
  steps.flatMap((step) => (step?.type === 'text' ? [step.content] : [])).join('\n\n')

/** Whether the stored message is final. */
const isWhole = ({ status }: Message): boolean =>
  status !== 'streaming' && status !== 'awaiting_approval' && status !== 'awaiting_input'

/** The state of the run behind an answer: the live copy until the stored message is on the page. */
function useShownRun(message: Message) {
  const live = useRunOf(message)
  const running = live?.state === 'running'
  const isReplaced = live !== undefined && !running && isWhole(message)
  const steps =
    live !== undefined && live.steps.length > 0 && !isReplaced ? live.steps : stepsOf(message)
  // Drop the live copy only once the stored message has replaced it; otherwise the answer would disappear for a moment.
  useEffect(() => {
    if (isReplaced) useLiveRuns.getState().drop(live.runId)
  }, [isReplaced, live?.runId])
  const liveParts = useMemo(
    () =>
      live === undefined || !running
        ? null
        : {
            growing: live.growing,
            progress: live.progress,
            startedAt: live.startedAt,
            approvals: live.approvals,
            rejected: live.rejected,
          },
    [live, running],
  )
  return { live, steps, liveParts }
}

type AnswerMessageProps = {
  message: Message
  conversationId: string
  /** The id of the background task that this answer announces, else null. */
  task: string | null
  locked: boolean
  /** Whether no message follows. */
  isLast: boolean
  onRegenerate: (id: string, model?: string) => void
  onResume: (runId: string) => void
  onStop: (runId: string) => void
  /** Stops the answer and regenerates it with another model. */
  onSwitch: (id: string, model: string) => void
  onDelete: (id: string) => void
  onShow: (id: MessageId) => void
  editing: boolean
  onEditing: (id: MessageId | null) => void
}

/** Renders again only when its message or its run changes, not while other answers stream. */
export const AnswerMessage = memo(function AnswerMessage({
  message,
  conversationId,
  task,
  locked,
  isLast,
  onRegenerate,
  onResume,
  onStop,
  onSwitch,
  onDelete,
  onShow,
  editing,
  onEditing,
}: AnswerMessageProps) {
  const { t } = useTranslation()
  const { live, steps, liveParts } = useShownRun(message)
  const running = live?.state === 'running'
  const { sources, citations, onOpen, dialog } = useAnswerSources(steps)
  const { buttons, note } = useAnswerFeedback(message, conversationId)
  if (editing && !running)
    return (
      <RevisionForm
        id={message.id}
        conversationId={conversationId}
        initial={steps.findLast((step) => step?.type === 'text')?.content ?? message.text}
        onClose={() => onEditing(null)}
      />
    )
  return (
    <article
      aria-label={t('message.answer')}
      aria-busy={running}
      data-answer
      tabIndex={-1}
      className="group/message flex flex-col gap-3 rounded-xl outline-offset-4"
    >
      <MessageHeading name={t('message.answer')} />
      {task !== null && (
        <p className="flex items-center gap-2 text-note text-muted">
          <Bot size={14} aria-hidden className="shrink-0" />
          <span className="min-w-0 truncate">{t('background.answerTo', { task })}</span>
        </p>
      )}
      <CitationContext value={citations}>
        <AnswerSteps steps={steps} live={liveParts} />
      </CitationContext>
      <AttachmentChips attachments={filesOf(message, steps)} atEnd={false} />
      {running && (!waitsForPerson(live) || live.connection === 'reconnecting') && (
        <Working
          live={live}
          model={message.model ?? null}
          onStop={() => onStop(live.runId)}
          onSwitch={(model) => onSwitch(message.id, model)}
        />
      )}
      {live !== undefined && <PendingDecisions live={live} />}
      {!running && (
        <>
          <SourcesPanel sources={sources} cited={citedIn(textOf(steps), sources)} onOpen={onOpen} />
          {dialog}
          <Ending
            message={message}
            live={live}
            isEmpty={steps.length === 0}
            isSilent={textOf(steps).trim() === '' && filesOf(message, steps).length === 0}
            isLast={isLast}
            onRegenerate={onRegenerate}
            onResume={onResume}
          />
          <AnswerActions
            message={message}
            conversationId={conversationId}
            text={() => textOf(steps)}
            usage={live?.usage ?? message.usage ?? null}
            feedback={buttons}
            isEmpty={steps.length === 0}
            locked={locked}
            onRegenerate={onRegenerate}
            onDelete={onDelete}
            onShow={onShow}
            onEdit={() => onEditing(message.id)}
          />
          {note}
        </>
      )}
    </article>
  )
})

function RevisionForm({
  id,
  conversationId,
  initial,
  onClose,
}: {
  id: MessageId
  conversationId: string
  initial: string
  onClose: () => void
}) {
  const { t } = useTranslation()
  const revise = useReviseAnswer(conversationId)
  return (
    <EditForm
      initial={initial}
      hint={t('answer.editHint')}
      submit={t('common.save')}
      onCancel={onClose}
      onSubmit={async (text) => {
        // A failure is reported centrally; the form stays open with the text.
        await revise.mutateAsync({ id, text }).then(onClose, () => undefined)
      }}
    />
  )
}
