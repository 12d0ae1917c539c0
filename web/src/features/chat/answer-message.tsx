// An answer of the agent: its steps, what it waits for, how it ended, and what can be done with it.
import { Bot, Copy, RefreshCw, RotateCw, Trash2, TriangleAlert, WifiOff } from 'lucide-react'
import { lazy, memo, Suspense, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { MessageId } from '../../../../server/protocol/ids.ts'
import type { Message } from '../../../../server/protocol/message.ts'
import type { Step } from '../../../../server/protocol/step.ts'
import { wholeNumber } from '../../lib/format.ts'
import { Button } from '../../ui/button.tsx'
import { notify } from '../../ui/toasts.ts'
import { ActionButton } from './action-button.tsx'
import { type LiveRun, useLiveRuns, useRunOf } from './live-runs.ts'
import { SiblingSwitch } from './sibling-switch.tsx'
import { Sources } from './sources.tsx'
import { AnswerSteps } from './steps/answer-steps.tsx'

const ApprovalCard = lazy(() =>
  import('./approval-card.tsx').then((module) => ({ default: module.ApprovalCard })),
)

/** Older messages may carry text alone; it is drawn as the one step it stands for. */
const stepsOf = (message: Message): readonly Step[] => {
  const steps = message.process_steps ?? []
  return steps.length > 0 || message.text === ''
    ? steps
    : [{ id: 'step-0', index: 0, type: 'text', content: message.text }]
}

const textOf = (steps: readonly Step[]): string =>
  steps.flatMap((step) => (step?.type === 'text' ? [step.content] : [])).join('\n\n')

/** Questions come as their previews are ready; they are asked in the order in which the model named the calls. */
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
  onDelete,
  onShow,
}: {
  message: Message
  conversationId: string
  /** The task of which this is the announced answer; else null. */
  task: string | null
  locked: boolean
  onRegenerate: (id: string) => void
  onResume: (runId: string) => void
  onDelete: (id: string) => void
  onShow: (id: MessageId) => void
}) {
  const { t, i18n } = useTranslation()
  const live = useRunOf(conversationId, message)
  const running = live?.state === 'running'
  const steps = live !== undefined && live.steps.length > 0 ? live.steps : stepsOf(message)
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
  const tokens = live?.usage?.completion_tokens ?? message.token_count
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
      <AnswerSteps steps={steps} live={liveParts} />
      {running && (live.approvals.length === 0 || live.connection === 'reconnecting') && (
        <Working live={live} />
      )}
      {live !== undefined &&
        inOrderOfCalls(live).map((approval, place) => (
          <Suspense key={approval.id_ref} fallback={null}>
            <ApprovalCard
              runId={live.runId}
              approval={approval}
              folded={place > 0}
              onDecided={() =>
                useLiveRuns.getState().answered(conversationId, live.runId, approval.id_ref)
              }
            />
          </Suspense>
        ))}
      {!running && (
        <>
          <Sources steps={steps} />
          <Ending message={message} live={live} onRegenerate={onRegenerate} onResume={onResume} />
          <div className="message-actions -ml-1.5 flex h-7 items-center gap-0.5">
            <ActionButton
              icon={Copy}
              label={t('common.copy')}
              onClick={() =>
                void navigator.clipboard
                  .writeText(textOf(steps))
                  .then(() => notify(t('common.copied')))
              }
            />
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
            <SiblingSwitch
              id={message.id}
              siblings={message.siblings}
              disabled={locked}
              onShow={onShow}
            />
            {tokens > 0 && (
              <span className="ml-1.5 text-xs text-muted tabular-nums">
                {t('message.tokens', { count: tokens, shown: wholeNumber(tokens, i18n.language) })}
                {message.model != null && ` · ${message.model}`}
              </span>
            )}
          </div>
        </>
      )}
    </article>
  )
})

/** A sign of life for the moments in which nothing else moves. */
function Working({ live }: { live: LiveRun }) {
  const { t } = useTranslation()
  if (live.connection === 'reconnecting')
    return (
      <p className="flex items-center gap-2 text-sm text-warn">
        <WifiOff size={14} aria-hidden /> {live.trouble ?? t('chat.reconnecting')}
      </p>
    )
  const last = live.steps.at(-1)
  if (last !== undefined && last.type !== 'tool_result') return null
  return (
    <span aria-hidden className="flex h-6 items-center gap-1.5">
      <i className="size-1.5 animate-breathe rounded-full bg-accent" />
      <i className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:200ms]" />
      <i className="size-1.5 animate-breathe rounded-full bg-accent [animation-delay:400ms]" />
    </span>
  )
}

/** Says why an answer is not whole, and offers the way on. */
function Ending({
  message,
  live,
  onRegenerate,
  onResume,
}: {
  message: Message
  live: LiveRun | undefined
  onRegenerate: (id: string) => void
  onResume: (runId: string) => void
}) {
  const { t } = useTranslation()
  const failed = live?.state === 'error' || message.status === 'failed'
  const limited = live?.finishReason === 'max_iterations'
  const broken = message.status === 'stopped' || message.status === 'interrupted'
  if (!failed && !limited && !broken) return null
  const runId = live?.runId ?? message.run_id ?? null
  const text = failed
    ? (live?.error?.content ?? message.error ?? t('message.failed'))
    : limited
      ? t('message.limited')
      : t(message.status === 'stopped' ? 'message.stopped' : 'message.interrupted')
  return (
    <div
      role={failed ? 'alert' : undefined}
      className={`flex flex-wrap items-center gap-x-3 gap-y-2 rounded-xl px-3.5 py-2 text-sm ${failed ? 'bg-bad-soft text-bad' : 'bg-sunken text-soft'}`}
    >
      {failed && <TriangleAlert size={15} aria-hidden className="shrink-0" />}
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{text}</span>
      {runId !== null && (
        <Button size="small" tone="quiet" icon={RotateCw} onClick={() => onResume(runId)}>
          {t('message.continue')}
        </Button>
      )}
      {failed && (
        <Button size="small" tone="quiet" icon={RefreshCw} onClick={() => onRegenerate(message.id)}>
          {t('message.regenerate')}
        </Button>
      )}
    </div>
  )
}
