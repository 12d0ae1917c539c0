// The notice below an incomplete answer: why it ended, and what the user can do.
import { Activity, Gauge, RefreshCw, RotateCw, Settings, TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import type { ErrorParams } from '../../../../../server/protocol/error.ts'
import { wholeNumber } from '../../../lib/format.ts'
import { isOperator, useRefusalText } from '../../../lib/http/refusal-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { paths } from '../../../lib/paths.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { inspectRun } from '../inspected-run.ts'
import type { LiveRun } from '../runs/live-runs.ts'
import { OtherModel } from './other-model.tsx'

const linkClass =
  'inline-flex h-8 items-center gap-1.5 rounded-lg px-2.5 text-note font-medium text-soft hover:bg-hover hover:text-ink'

/** Whether the parameters are those of a quota that has not been renewed yet. */
const isStillUsedUp = (params: ErrorParams | null | undefined): boolean =>
  typeof params?.renews_at === 'string' && Date.parse(params.renews_at) > Date.now()

/** Explains a stopped, failed, interrupted or truncated answer. Renders nothing below a complete one that says something. */
export function Ending({
  message,
  live,
  isEmpty,
  isSilent,
  isLast,
  onRegenerate,
  onResume,
}: {
  message: Message
  live: LiveRun | undefined
  /** Whether nothing has arrived that could be continued. */
  isEmpty: boolean
  /** Whether it has neither text nor files. */
  isSilent: boolean
  /** Whether no message follows, which may have continued the answer. */
  isLast: boolean
  onRegenerate: (id: string, model?: string) => void
  onResume: (runId: string) => void
}) {
  const { t, i18n } = useTranslation()
  const refusalText = useRefusalText()
  const failed = live?.state === 'error' || message.status === 'failed'
  const finish = live === undefined ? message.finish_reason : live.finishReason
  const limit = live === undefined ? message.limit : live.limit
  const limited = finish === 'max_iterations' || finish === 'budget'
  const broken = message.status === 'stopped' || message.status === 'interrupted'
  const cutOff = finish === 'length'
  const isDone = live === undefined ? message.status === 'completed' : live.state === 'done'
  const hasNoAnswer = isSilent && isDone && !failed && !limited && !broken && !cutOff
  if (!failed && !limited && !broken && !cutOff && !hasNoAnswer) return null
  const runId = live?.runId ?? message.run_id ?? null
  // A resumed run keeps its token count and would hit the limit again at once. The text says what helps.
  const failure = live?.error ?? {
    code: message.error_code,
    reason: message.error_reason,
    params: message.error_params,
    content: message.error,
  }
  // Until a quota is renewed, every attempt fails.
  const isUsedUp =
    isStillUsedUp(failed ? failure.params : null) || isStillUsedUp(limit?.params ?? null)
  const canResume =
    runId !== null &&
    !hasNoAnswer &&
    !isUsedUp &&
    !(failed && isEmpty) &&
    limit?.reason !== 'run_tokens_used_up' &&
    limit?.complete !== true &&
    (isLast || !cutOff)
  const resumption = canResume ? () => onResume(runId) : null
  const limitText = (): string => {
    const tokens = limit?.reason === 'run_tokens_used_up' ? limit.params?.limit : undefined
    // The text of the reason says how to continue, which a complete answer does not need.
    if (limit?.complete === true && typeof tokens === 'number')
      return t('message.beyondTokens', { limit: wholeNumber(tokens, i18n.language) })
    return refusalText({
      reason: limit?.reason,
      params: limit?.params,
      message: limit?.content ?? t('message.budget'),
    })
  }
  const text = failed
    ? refusalText({
        reason: failure.reason ?? failure.code,
        params: failure.params,
        message: failure.content ?? t('message.failed'),
      })
    : limited
      ? finish === 'budget'
        ? limitText()
        : t('message.limited')
      : hasNoAnswer
        ? t('message.empty')
        : cutOff && !broken
          ? t('message.cutOff')
          : t(message.status === 'stopped' ? 'message.stopped' : 'message.interrupted')
  return (
    <div
      role={failed ? 'alert' : undefined}
      className={`flex flex-wrap items-center gap-x-3 gap-y-1 rounded-xl px-3.5 py-2 text-sm ${failed ? 'bg-bad-soft text-bad' : 'bg-sunken text-soft'}`}
    >
      <p className="flex min-w-[min(100%,24rem)] flex-1 items-start gap-2.5 py-1">
        {failed && <TriangleAlert size={15} aria-hidden className="mt-0.5 shrink-0" />}
        <span className="min-w-0 [overflow-wrap:anywhere]">{text}</span>
      </p>
      <div className="-mx-2 flex flex-wrap items-center">
        {resumption !== null && (
          <Button size="small" tone="quiet" icon={RotateCw} onClick={resumption}>
            {t('message.continue')}
          </Button>
        )}
        {isUsedUp && (
          <Link href={paths.stats} className={linkClass}>
            <Gauge size={14} aria-hidden />
            {t('shell.stats')}
          </Link>
        )}
        {(hasNoAnswer || (failed && !isUsedUp)) && (
          <Button
            size="small"
            tone="quiet"
            icon={RefreshCw}
            onClick={() => onRegenerate(message.id)}
          >
            {t('message.regenerate')}
          </Button>
        )}
        {failed && !isUsedUp && failure.code?.startsWith('model_') === true && (
          <>
            <OtherModel
              current={message.model ?? null}
              onChoose={(model) => onRegenerate(message.id, model)}
            />
            {isOperator() && (
              <Link href={paths.settingsTab('models')} className={linkClass}>
                <Settings size={14} aria-hidden />
                {t('message.modelSettings')}
              </Link>
            )}
          </>
        )}
        {failed && runId !== null && (
          <Button size="small" tone="quiet" icon={Activity} onClick={() => inspectRun(runId)}>
            {t('answer.inspect')}
          </Button>
        )}
      </div>
    </div>
  )
}
