// What sub-agents did in all: their calls, tokens and cost.
import type { SubAgentWork } from '../../../../../server/protocol/runs/run-timeline.ts'
import { money, wholeNumber } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'

/** One line, below a tool call or below the totals of the run. */
export function SubAgentFigures({ of: work }: { of: SubAgentWork }) {
  const { t, i18n } = useTranslation()
  const facts = [
    t('inspector.modelCalls', { count: work.model_calls }),
    t('inspector.toolCalls', { count: work.tool_calls }),
    t('inspector.input', { tokens: wholeNumber(work.prompt_tokens, i18n.language) }),
    t('inspector.output', { tokens: wholeNumber(work.completion_tokens, i18n.language) }),
    ...Object.entries(work.cost).map(([currency, amount]) =>
      money(amount, currency, i18n.language),
    ),
  ].join(' · ')
  return (
    <p className="mt-1 text-xs text-soft tabular-nums">{t('inspector.subAgents', { facts })}</p>
  )
}
