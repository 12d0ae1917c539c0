// The request of a model call: its URL, and each part of its body.
import { Copy, Terminal } from 'lucide-react'
import { useState } from 'react'
import {
  type PromptChange,
  type RecordedExchange,
  requestBodyOf,
} from '../../../../../server/protocol/runs/run-record.ts'
import { copyText } from '../../../lib/browser/copy-text.ts'
import { wholeNumber } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { curlOf, type Parts, partsOf, pretty, type RequestPart } from './recorded-call.ts'
import { Source } from './source.tsx'

/** `first` is the first part that differs from the previous call. */
export function RequestView({
  exchange,
  parts,
  first,
}: {
  exchange: RecordedExchange
  parts: Parts
  first: PromptChange['first'] | undefined
}) {
  const { t } = useTranslation()
  const copy = (text: string): void =>
    void copyText(text).then((copied) =>
      notify(t(copied ? 'common.copied' : 'common.notCopied'), copied ? 'plain' : 'error'),
    )
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <Button size="small" icon={Terminal} onClick={() => copy(curlOf(exchange, parts))}>
          {t('inspector.copyCurl')}
        </Button>
        <Button size="small" icon={Copy} onClick={() => copy(requestBodyOf(exchange, parts))}>
          {t('inspector.copyRequest')}
        </Button>
      </div>
      <Source
        text={[
          `${exchange.method} ${exchange.url}`,
          ...Object.entries(exchange.headers).map(([name, value]) => `${name}: ${value}`),
        ].join('\n')}
      />
      <ul className="flex flex-col gap-1">
        {partsOf(exchange, parts).map((part) => (
          <li key={part.key}>
            <Part
              part={part}
              isFirst={
                first?.after != null && first.field === part.field && first.index === part.index
              }
            />
          </li>
        ))}
      </ul>
    </>
  )
}

/** Folded, because a request may have hundreds of parts. */
function Part({ part, isFirst }: { part: RequestPart; isFirst: boolean }) {
  const { t, i18n } = useTranslation()
  const [open, setOpen] = useState(false)
  const { json } = part
  return (
    <details
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-lg bg-sunken px-3 py-1.5"
    >
      <summary className="flex min-h-6 pointer-coarse:min-h-11 cursor-pointer items-center gap-2 text-xs">
        <span className="shrink-0 font-mono font-medium">{part.role}</span>
        {isFirst && <span className="shrink-0 text-warn">{t('inspector.changedHere')}</span>}
        <span dir="auto" className="min-w-0 flex-1 truncate text-muted">
          {json === null ? t('inspector.missing') : json.slice(0, 300)}
        </span>
        {json !== null && (
          <span className="shrink-0 text-muted tabular-nums">
            {t('inspector.characters', {
              count: part.characters,
              shown: wholeNumber(part.characters, i18n.language),
            })}
          </span>
        )}
      </summary>
      {open && json !== null && (
        <Source text={pretty(json)} isCut={json.length < part.characters} />
      )}
    </details>
  )
}
