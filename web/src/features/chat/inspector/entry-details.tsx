// The recorded details of a call: request and response of a model call, arguments and result of a tool call.
import { useState } from 'react'
import type { RecordedCall } from '../../../../../server/protocol/runs/run-record.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Segmented } from '../../../ui/controls/segmented.tsx'
import { ChangeView } from './change-view.tsx'
import { type InspectedEntry, type Parts, pretty } from './recorded-call.ts'
import { RequestView } from './request-view.tsx'
import { Named, ResponseView } from './response-view.tsx'
import { Source } from './source.tsx'

const VIEWS = ['request', 'response', 'change'] as const
type View = (typeof VIEWS)[number]

/** `parts` maps the hashes in the record to texts. */
export function EntryDetails({ inspected, parts }: { inspected: InspectedEntry; parts: Parts }) {
  const { t } = useTranslation()
  const { call, tool } = inspected
  if (tool !== undefined) return <ToolDetails tool={tool} />
  if (call === undefined || call.exchanges.length === 0)
    return <p className="mt-2 text-sm text-muted">{t('inspector.notRecorded')}</p>
  return <CallDetails call={call} parts={parts} />
}

function CallDetails({ call, parts }: { call: RecordedCall; parts: Parts }) {
  const { t } = useTranslation()
  const [view, setView] = useState<View>('request')
  const [attempt, setAttempt] = useState(call.exchanges.length)
  const exchange = call.exchanges[attempt - 1] ?? call.exchanges.at(-1)
  if (exchange === undefined) return null
  return (
    <div className="mt-3 flex flex-col gap-3">
      <div className="flex flex-wrap gap-2 overflow-x-auto">
        <Segmented
          label={t('inspector.view')}
          value={view}
          options={VIEWS.map((value) => ({ value, label: t(`inspector.views.${value}`) }))}
          onChange={setView}
        />
        {call.exchanges.length > 1 && view !== 'change' && (
          <Segmented
            label={t('inspector.attempt')}
            value={String(attempt)}
            options={call.exchanges.map((_, at) => ({
              value: String(at + 1),
              label: String(at + 1),
            }))}
            onChange={(value) => setAttempt(Number(value))}
          />
        )}
      </div>
      <div>
        {view === 'request' ? (
          <RequestView exchange={exchange} parts={parts} first={call.change?.first} />
        ) : view === 'response' ? (
          <ResponseView response={exchange.response} />
        ) : (
          <ChangeView change={call.change} parts={parts} />
        )}
      </div>
    </div>
  )
}

function ToolDetails({ tool }: { tool: NonNullable<InspectedEntry['tool']> }) {
  const { t } = useTranslation()
  const isCut = tool.characters !== undefined
  return (
    <div className="mt-2">
      <Named name={t('inspector.arguments')}>
        <Source text={pretty(tool.arguments)} isCut={isCut} />
      </Named>
      {tool.result !== null && (
        <Named name={t('inspector.result')}>
          <Source text={pretty(tool.result)} isCut={isCut} />
        </Named>
      )}
    </div>
  )
}
