// The findings of a provider test: whether it responds, what its model can do, and known facts about the model.

import { Check, Minus } from 'lucide-react'
import type { ModelApi, ProbeReport } from '../../../../server/protocol/models/catalog.ts'
import { compactNumber, money } from '../../lib/format.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Facts } from '../../ui/facts.tsx'

/** The providers' names of their APIs, the same in every language. */
export const API_NAMES: Readonly<Record<ModelApi, string>> = {
  chat: 'Chat Completions (OpenAI)',
  responses: 'Responses (OpenAI)',
  messages: 'Messages (Anthropic)',
}

const ABILITIES = ['streaming', 'usage', 'native_tools', 'reasoning', 'vision'] as const

/** Explains what failed, or lists what the model can do. `hasKey`: whether the test sent an API key. */
export function ProbeFindings({ report, hasKey }: { report: ProbeReport; hasKey: boolean }) {
  const { t, i18n } = useTranslation()
  const refusalText = useRefusalText()
  // A list of models proves nothing about the key: only a response of the model does.
  if (!report.reachable || report.error !== null)
    return (
      <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
        {report.error_code === 'model_unauthorized'
          ? // The server's text leads to the settings, but here the key field is on the page.
            t(hasKey ? 'setup.keyRejected' : 'setup.keyMissing')
          : refusalText({
              reason: report.error_reason ?? report.error_code,
              params: report.error_params,
              message: report.error ?? t('setup.unreachable'),
            })}
      </p>
    )
  return (
    <div role="status" className="rounded-xl border border-line bg-surface p-4">
      <p className="mb-2 text-sm font-medium">
        {t('setup.found', { count: report.models.length })}
        {report.suggested.api !== undefined && ` ${API_NAMES[report.suggested.api]}.`}
      </p>
      <ul className="grid gap-1.5 text-sm sm:grid-cols-2">
        {ABILITIES.map((ability) => (
          <li key={ability} className="flex items-center gap-2">
            {report[ability] ? (
              <Check size={15} aria-hidden className="text-ok" />
            ) : (
              <Minus size={15} aria-hidden className="text-muted" />
            )}
            <span className={report[ability] ? '' : 'text-muted'}>
              {t(`setup.ability.${ability}`)}
              <span className="sr-only">: {t(report[ability] ? 'common.yes' : 'common.no')}</span>
            </span>
          </li>
        ))}
      </ul>
      <KnownFacts settings={report.suggested} language={i18n.language} />
    </div>
  )
}

/** Facts about the model from the server's model table. */
function KnownFacts({
  settings: { context_window, price },
  language,
}: {
  settings: ProbeReport['suggested']
  language: string
}) {
  const { t } = useTranslation()
  if (context_window === undefined && price === undefined) return null
  const facts = [
    context_window === undefined
      ? null
      : t('models.window', { size: compactNumber(context_window, language) }),
    price === undefined
      ? null
      : t('setup.price', {
          input: money(price.input, price.currency, language),
          output: money(price.output, price.currency, language),
        }),
  ]
  return (
    <p className="mt-3 text-note text-muted">
      <Facts of={facts.filter((fact) => fact !== null)} />
    </p>
  )
}
