// A search hit: its kind, its day and the surrounding words.

import type { SearchHit } from '../../../../server/protocol/conversations/search.ts'
import { fullDay } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../lib/list-keys.ts'
import { toolTitle } from '../../lib/tool-title.ts'
import { readSnippet, splitToolName } from './snippet.ts'

/** The content of an entry; the surrounding list makes it a link. */
export function HitView({ hit }: { hit: SearchHit }) {
  const { t, i18n } = useTranslation()
  const parts = readSnippet(hit.snippet, hit.role === 'assistant' && hit.type === 'message')
  const tool = hit.type === 'tool' ? splitToolName(parts) : null
  return (
    <>
      <span className="mb-0.5 flex gap-2 text-xs text-soft">
        <span className="shrink-0">
          {tool === null
            ? t(`search.type.${hit.role === 'user' && hit.type === 'message' ? 'mine' : hit.type}`)
            : toolTitle(tool.name, t)}
        </span>
        {hit.file_name !== undefined && (
          <bdi className="min-w-0 truncate font-medium text-ink">{hit.file_name}</bdi>
        )}
        {hit.page !== undefined && <span>{t('search.page', { page: hit.page })}</span>}
        <span className="shrink-0">{fullDay(hit.created_at, i18n.language)}</span>
      </span>
      <span className="line-clamp-3">
        {atPlaces(tool?.rest ?? parts).map(({ place, item: part }) =>
          part.isHit ? (
            <mark key={place} className="rounded-xs bg-warn-soft text-ink">
              {part.text}
            </mark>
          ) : (
            part.text
          ),
        )}
      </span>
    </>
  )
}
