// The usage of an answer: tokens, tokens from the provider's cache, cost, model.
import { Fragment, type ReactNode } from 'react'
import type { AnswerTiming } from '../../../../../server/protocol/runs/run-timeline.ts'
import type { Usage } from '../../../../../server/protocol/runs/usage.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { duration, money, percent, wholeNumber } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'

/** The facts of a finished answer on one line, or several; unknown values are left out. */
export function AnswerUsage({
  usage,
  tokens,
  model,
  timing,
}: {
  /** Null for imported answers. */
  usage: Usage | null
  /** Tokens that the model wrote. */
  tokens: number
  model: string | null
  /** Null while the answer is being written, and for older answers. */
  timing: AnswerTiming | null
}) {
  const { t, i18n } = useTranslation()
  if (tokens === 0) return null
  const whole = (count: number): string => wholeNumber(count, i18n.language)
  const facts: [key: string, fact: ReactNode][] = [
    ['tokens', t('message.tokens', { count: tokens, shown: whole(tokens) })],
  ]
  if (usage !== null && usage.prompt_tokens > 0)
    facts.push([
      'input',
      usage.cached_tokens === 0
        ? t('message.input', { input: whole(usage.prompt_tokens) })
        : t('message.cachedInput', {
            input: whole(usage.prompt_tokens),
            cached: `${whole(usage.cached_tokens)} (${percent(usage.cached_tokens / usage.prompt_tokens, i18n.language)})`,
          }),
    ])
  if (timing?.cache_write_tokens !== undefined && timing.cache_write_tokens > 0)
    facts.push(['written', t('answer.cacheWrite', { tokens: whole(timing.cache_write_tokens) })])
  for (const [currency, amount] of Object.entries(usage?.cost ?? {}))
    if (amount > 0) facts.push([currency, money(amount, currency, i18n.language)])
  if (timing !== null && timing.reasoning_tokens > 0)
    facts.push(['reasoning', t('answer.reasoning', { tokens: whole(timing.reasoning_tokens) })])
  if (timing !== null) facts.push(['time', <Duration key="time" timing={timing} />])
  if (model !== null) facts.push(['model', <ModelName key="model" id={model} />])
  return (
    <span className="text-xs text-muted tabular-nums">
      {facts.map(([key, fact], index) => (
        // A line breaks between facts, not inside them.
        <Fragment key={key}>
          {index > 0 && ' '}
          <span className="inline-block max-w-full">
            {fact}
            {index < facts.length - 1 && ' ·'}
          </span>
        </Fragment>
      ))}
    </span>
  )
}

function Duration({ timing }: { timing: AnswerTiming }) {
  const { t, i18n } = useTranslation()
  const first = timing.first_output_ms
  const total = duration(timing.duration_ms / 1_000, i18n.language)
  return (
    <span
      title={
        first === null
          ? undefined
          : t('answer.firstOutput', { time: duration(first / 1_000, i18n.language) })
      }
    >
      {first === null
        ? total
        : t('answer.first', { total, time: duration(first / 1_000, i18n.language) })}
    </span>
  )
}

/** The model's display name; its id if it is no longer offered. */
function ModelName({ id }: { id: string }) {
  const { data: models } = useModels()
  return <span title={id}>{models?.find((model) => model.id === id)?.name ?? id}</span>
}
