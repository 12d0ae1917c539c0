// What an answer used: tokens, those that came from the provider's cache apart, the cost, and the model.
import { useTranslation } from 'react-i18next'
import type { Usage } from '../../../../../server/protocol/usage.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { compactNumber, money, wholeNumber } from '../../../lib/format.ts'

export function AnswerUsage({
  usage,
  tokens,
  model,
}: {
  /** Null for answers of an import. */
  usage: Usage | null
  /** Written by the model. */
  tokens: number
  model: string | null
}) {
  const { t, i18n } = useTranslation()
  if (tokens === 0) return null
  const short = (count: number): string => compactNumber(count, i18n.language)
  const costs = Object.entries(usage?.cost ?? {}).filter(([, amount]) => amount > 0)
  return (
    <span className="ml-1.5 max-sm:basis-full text-xs text-muted tabular-nums">
      {t('message.tokens', { count: tokens, shown: wholeNumber(tokens, i18n.language) })}
      {usage !== null && usage.prompt_tokens > 0 && (
        <>
          {' · '}
          {usage.cached_tokens === 0
            ? t('message.input', { input: short(usage.prompt_tokens) })
            : t('message.cachedInput', {
                input: short(usage.prompt_tokens),
                cached: short(usage.cached_tokens),
              })}
        </>
      )}
      {costs.map(([currency, amount]) => ` · ${money(amount, currency, i18n.language)}`)}
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
