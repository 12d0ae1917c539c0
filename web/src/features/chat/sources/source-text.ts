// The displayed texts of a source.
import { useCallback } from 'react'
import type { Source } from '../../../../../server/protocol/sources/source.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'

/** The texts of a source for the list and the chips. */
export type SourceText = {
  title: string
  /** The site, or the place in the document. */
  place: string
  /** The whole site or document. */
  origin: string
}

/** Returns a function that describes sources in the page's language. */
export function useSourceText(): (source: Source) => SourceText {
  const { t } = useTranslation()
  return useCallback(
    (source) => {
      if (source.kind === 'web')
        return { title: source.title, place: source.site, origin: source.site }
      const page =
        source.page === undefined ? undefined : t('documents.page', { page: source.page })
      const parts = [source.heading, page].filter((part) => part !== undefined)
      return { title: source.document, place: parts.join(' · '), origin: source.document }
    },
    [t],
  )
}
