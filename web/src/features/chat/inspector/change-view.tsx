// Shows how a prompt differs from the previous call, and what the difference cost.

import type { PromptChange } from '../../../../../server/protocol/runs/run-record.ts'
import { money, wholeNumber } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { type Parts, pretty } from './recorded-call.ts'
import { Named } from './response-view.tsx'
import { Source } from './source.tsx'

/** `change` is null if there is no previous call to compare with. `parts` maps hashes to recorded texts. */
export function ChangeView({ change, parts }: { change: PromptChange | null; parts: Parts }) {
  const { t, i18n } = useTranslation()
  if (change === null) return <p className="text-sm text-muted">{t('inspector.firstCall')}</p>
  const count = (tokens: number): string => wholeNumber(tokens, i18n.language)
  const { first } = change
  const lines = [
    change.other_model ? t('inspector.otherModel') : null,
    first === null
      ? t('inspector.appended')
      : t(`inspector.changes.${first.kind}`, {
          part: first.index === null ? first.field : `${first.field}[${first.index}]`,
        }),
    ...(['added', 'removed', 'changed'] as const).map((kind) => {
      const names = first?.tools?.[kind] ?? []
      return names.length === 0 ? null : t(`inspector.tools.${kind}`, { names: names.join(', ') })
    }),
    change.options.length === 0
      ? null
      : t('inspector.options', { names: change.options.join(', ') }),
    t('inspector.same', { same: count(change.same_tokens), all: count(change.prompt_tokens) }),
    change.resent_tokens === 0
      ? null
      : t('inspector.resent', { tokens: count(change.resent_tokens) }),
    ...Object.entries(change.extra_cost).map(([currency, amount]) =>
      t('inspector.extraCost', { cost: money(amount, currency, i18n.language) }),
    ),
  ].filter((line) => line !== null)
  const share = change.prompt_tokens === 0 ? 0 : change.same_tokens / change.prompt_tokens
  return (
    <>
      <div aria-hidden className="mb-2 flex h-2 overflow-hidden rounded-full bg-warn">
        <div className="bg-ok" style={{ width: `${share * 100}%` }} />
      </div>
      <ul className="flex flex-col gap-1 text-sm">
        {lines.map((line) => (
          <li key={line} className="[overflow-wrap:anywhere]">
            {line}
          </li>
        ))}
      </ul>
      {(['before', 'after'] as const).map((side) => {
        const part = parts[first?.[side] ?? '']
        // The texts of all tools would say less than the names above.
        if (part === undefined || first?.tools != null) return null
        return (
          <Named key={side} name={t(`inspector.${side}`)}>
            <Source text={pretty(part.json)} isCut={part.json.length < part.characters} />
          </Named>
        )
      })}
    </>
  )
}
