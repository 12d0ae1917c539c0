// The response to a model call's request: its status, the model's output, and its usage.

import type { ReactNode } from 'react'
import type { RecordedExchange } from '../../../../../server/protocol/runs/run-record.ts'
import { fineDuration } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { keyed } from '../../../lib/list-keys.ts'
import { pretty } from './recorded-call.ts'
import { Source } from './source.tsx'

/** Parts that the response does not have are left out. */
export function ResponseView({ response }: Pick<RecordedExchange, 'response'>) {
  const { t, i18n } = useTranslation()
  const facts = [
    response.status === null ? null : `HTTP ${response.status}`,
    response.headers_ms === null ? null : fineDuration(response.headers_ms, i18n.language),
    response.end_ms === null || response.end_ms === response.headers_ms
      ? null
      : fineDuration(response.end_ms, i18n.language),
    response.finish,
    response.request_id === null ? null : t('inspector.requestId', { id: response.request_id }),
  ].filter((fact) => fact !== null)
  return (
    <>
      <p className="text-xs text-soft tabular-nums [overflow-wrap:anywhere]">{facts.join(' · ')}</p>
      {response.error !== null && <Source text={pretty(response.error)} />}
      {response.thinking !== '' && (
        <Named name={t('inspector.thinking')}>
          <Source text={response.thinking} />
        </Named>
      )}
      {response.text !== '' && (
        <Named name={t('inspector.text')}>
          <Source text={response.text} isCut={response.cut} />
        </Named>
      )}
      {keyed(response.calls, ({ name }) => name).map(({ key, item: call }) => (
        <Named key={key} name={call.name}>
          <Source text={pretty(call.arguments)} />
        </Named>
      ))}
      {response.usage !== null && (
        <Named name={t('inspector.usage')}>
          <Source text={JSON.stringify(response.usage, null, 2)} />
        </Named>
      )}
    </>
  )
}

/** A heading with its content. */
export function Named({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section>
      <h4 className="mt-2 text-xs font-medium text-soft">{name}</h4>
      {children}
    </section>
  )
}
