// A scrollable box with a raw text of the record.

import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ScrollRegion } from '../../../ui/scroll-region.tsx'

/** The browser needs seconds for the layout of longer texts. */
const MAX_SHOWN_CHARACTERS = 200_000

/** `isCut`: whether only the beginning of the text is stored. */
export function Source({ text, isCut = false }: { text: string; isCut?: boolean }) {
  const { t } = useTranslation()
  return (
    <>
      <ScrollRegion
        as="pre"
        dir="ltr"
        className="my-2 max-h-80 overflow-auto rounded-lg border border-line bg-surface p-3 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {text.slice(0, MAX_SHOWN_CHARACTERS)}
      </ScrollRegion>
      {(isCut || text.length > MAX_SHOWN_CHARACTERS) && (
        <p className="text-xs text-muted">{t('inspector.cut')}</p>
      )}
    </>
  )
}
