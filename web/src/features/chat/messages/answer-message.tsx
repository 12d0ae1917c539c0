// An answer: its steps, pending approvals and inputs, its ending, and its actions.
import { Bot } from 'lucide-react'
import { memo, useEffect, useMemo } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import type { Step } from '../../../../../server/protocol/runs/step.ts'
import { citedIn } from '../../../../../server/protocol/sources/cited.ts'
import { useReviseAnswer } from '../../../lib/api/messages.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { CitationContext, QuoteContext } from '../../../ui/markdown/citation-context.ts'
import { RunContext } from '../answer-run.ts'
import { AttachmentChips } from '../attachments/attachment-chips.tsx'
import { filesOf } from '../attachments/produced-files.ts'
import { PlanChecklist } from '../plans/plan-checklist.tsx'
import { QuotesList } from '../quotes/quotes-list.tsx'
import { useAnswerQuotes } from '../quotes/use-answer-quotes.tsx'
import { ReceiptLine } from '../receipts/receipt-line.tsx'
import { useLiveRuns, useRunOf, waitsForPerson } from '../runs/live-runs.ts'
import { SourcesPanel } from '../sources/sources-panel.tsx'
import { useAnswerSources } from '../sources/use-answer-sources.tsx'
import { AnswerSteps } from '../steps/answer-steps.tsx'
import { AnswerActions } from './answer-actions.tsx'
import { useAnswerFeedback } from './answer-feedback.tsx'
import { FramedRequests, LeftRequests } from './app-requests.tsx'
import { EditForm } from './edit-form.tsx'
import { Ending } from './ending.tsx'
import type { MessageActions } from './message-actions.ts'
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

/** Whether the app of an MCP server shows the result: it can ask for decisions. */
const hasApp = (step: Step | undefined): boolean =>
  step?.type === 'tool_result' && step.artifact?.app !== undefined

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
  /** What the background task was asked whose end this answer announces; null for others. */
  task: string | null
  locked: boolean
  /** Whether no message follows. */
  isLast: boolean
  editing: boolean
  actions: MessageActions
}

/** Renders again only when its message or its run changes, not while other answers stream. */
export const AnswerMessage = memo(function AnswerMessage({
  message,
  conversationId,
  task,
  locked,
  isLast,
  editing,
  actions,
}: AnswerMessageProps) {
  const { t } = useTranslation()
  const { live, steps, liveParts } = useShownRun(message)
  const running = live?.state === 'running'
  const runId = live?.runId ?? message.run_id ?? null
  const answerRun = useMemo(() => ({ runId, Requests: FramedRequests }), [runId])
  const { sources, citations, onOpen, dialog } = useAnswerSources(steps)
  const quoted = useAnswerQuotes(message.citations, { conversationId, messageId: message.id })
  const { buttons, note } = useAnswerFeedback(message, conversationId)
  if (editing && !running)
    return (
      <RevisionForm
        id={message.id}
        conversationId={conversationId}
        initial={steps.findLast((step) => step?.type === 'text')?.content ?? message.text}
        onClose={() => actions.setEdited(null)}
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
        <QuoteContext value={quoted.quotes}>
          <RunContext value={answerRun}>
            <AnswerSteps steps={steps} live={liveParts} />
          </RunContext>
        </QuoteContext>
      </CitationContext>
      <AttachmentChips attachments={filesOf(message, steps)} atEnd={false} />
      <PlanChecklist
        plan={live?.plan ?? message.plan ?? null}
        runId={running ? live.runId : null}
      />
      {running && (!waitsForPerson(live) || live.connection === 'reconnecting') && (
        <Working
          live={live}
          model={message.model ?? null}
          onStop={() => actions.stopOne(live.runId)}
          onSwitch={(model) => actions.switchModel(message.id, model)}
        />
      )}
      {live !== undefined && <PendingDecisions live={live} />}
      {runId !== null && steps.some(hasApp) && <LeftRequests runId={runId} />}
      {!running && (
        <>
          <SourcesPanel sources={sources} cited={citedIn(textOf(steps), sources)} onOpen={onOpen} />
          {dialog}
          <QuotesList citations={message.citations ?? []} onOpen={quoted.open} />
          {quoted.dialog}
          <ReceiptLine
            conversationId={conversationId}
            messageId={message.id}
            summary={message.receipt}
          />
          <Ending
            message={message}
            live={live}
            isEmpty={steps.length === 0}
            isSilent={textOf(steps).trim() === '' && filesOf(message, steps).length === 0}
            isLast={isLast}
            onRegenerate={actions.regenerate}
            onResume={actions.resume}
          />
          <AnswerActions
            message={message}
            conversationId={conversationId}
            text={() => textOf(steps)}
            usage={live?.usage ?? message.usage ?? null}
            feedback={buttons}
            isEmpty={steps.length === 0}
            locked={locked}
            onRegenerate={actions.regenerate}
            onDelete={actions.remove}
            onShow={actions.show}
            onEdit={() => actions.setEdited(message.id)}
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
