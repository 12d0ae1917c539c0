// How many lines a change adds and removes.
import { useTranslation } from '../../lib/i18n/use-translation.tsx'

/** "+2 −1", or in words that nothing changes. A count that is unknown or 0 is left out: a new file says "+5". */
export function LineCounts({
  added,
  removed,
}: {
  added: number | undefined
  removed: number | undefined
}) {
  const { t } = useTranslation()
  if (added === 0 && removed === 0) return <span>{t('diff.noChange')}</span>
  return (
    <>
      {!!added && <span className="text-ok">+{added}</span>}
      {!!removed && <span className="text-bad">−{removed}</span>}
    </>
  )
}
