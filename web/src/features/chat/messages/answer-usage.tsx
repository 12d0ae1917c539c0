// What an answer used: tokens, those that came from the provider's cache apart, the cost, and the model.
import { useTranslation } from 'react-i18next'
import type { AnswerTiming } from '../../../../../server/protocol/runs/run-timeline.ts'
import type { Usage } from '../../../../../server/protocol/runs/usage.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { compactNumber, duration, money, percent, wholeNumber } from '../../../lib/format.ts'

/** A line among the actions of a finished answer; what is not known is left out. */
export function AnswerUsage({
  usage,
  tokens,
  model,
  timing,
}: {
  /** Null for answers of an import. */
  usage: Usage | null
  /** Written by the model. */
  tokens: number
  model: string | null
  /** Null while the answer is written, and for older ones. */
  timing: AnswerTiming | null
}) {
  const { t, i18n } = useTranslation()
  if (tokens === 0) return null
  const short = (count: number): string => compactNumber(count, i18n.language)
  const costs = Object.entries(usage?.cost ?? {}).filter(([, amount]) => amount > 0)
  return (
    <span className="ms-1.5 max-sm:basis-full text-xs text-muted tabular-nums">
      {t('message.tokens', { count: tokens, shown: wholeNumber(tokens, i18n.language) })}
      {usage !== null && usage.prompt_tokens > 0 && (
        <>
          {' · '}
          {usage.cached_tokens === 0
            ? t('message.input', { input: short(usage.prompt_tokens) })
            : t('message.cachedInput', {
                input: short(usage.prompt_tokens),
                cached: `${short(usage.cached_tokens)} (${percent(usage.cached_tokens / usage.prompt_tokens, i18n.language)})`,
              })}
        </>
      )}
      {timing?.cache_write_tokens !== undefined && timing.cache_write_tokens > 0 && (
        <> · {t('answer.cacheWrite', { tokens: short(timing.cache_write_tokens) })}</>
      )}
      {costs.map(([currency, amount]) => ` · ${money(amount, currency, i18n.language)}`)}
      {timing !== null && timing.reasoning_tokens > 0 && (
        <> · {t('answer.reasoning', { tokens: short(timing.reasoning_tokens) })}</>
      )}
      {timing !== null && (
        <span
          title={
            timing.first_output_ms === null
              ? undefined
              : t('answer.firstOutput', { time: duration(timing.first_output_ms / 1_000) })
          }
        >
          {' · '}
          {duration(timing.duration_ms / 1_000)}
          {timing.first_output_ms !== null &&
            ` (${t('answer.first', { time: duration(timing.first_output_ms / 1_000) })})`}
        </span>
      )}
      {model !== null && (
        <>
          {' · '}
          <ModelName id={model} />
        </>
      )}
    </span>
  )
}

/** The model's display name; its id when it is no longer offered. */
function ModelName({ id }: { id: string }) {
  const { data: models } = useModels()
  return <span title={id}>{models?.find((model) => model.id === id)?.name ?? id}</span>
}
