// A text of the record as it is, in a box that scrolls.

import { useTranslation } from 'react-i18next'
import { ScrollRegion } from '../../../ui/scroll-region.tsx'

/** A browser takes seconds to lay out more. */
const MAX_SHOWN = 200_000

/** `isCut`: the text was longer than what is stored of it. */
export function Source({ text, isCut = false }: { text: string; isCut?: boolean }) {
  const { t } = useTranslation()
  return (
    <>
      <ScrollRegion
        as="pre"
        dir="ltr"
        className="my-2 max-h-80 overflow-auto rounded-lg border border-line bg-surface p-3 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {text.slice(0, MAX_SHOWN)}
      </ScrollRegion>
      {(isCut || text.length > MAX_SHOWN) && (
        <p className="text-xs text-muted">{t('inspector.cut')}</p>
      )}
    </>
  )
}
