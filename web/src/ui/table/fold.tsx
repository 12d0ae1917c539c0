// Folds a long list: shows its beginning and a button with the number of hidden items.
import { type ReactNode, useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'

/** Most items that are rendered, because more would slow down the page. The raw data contains all. */
const MAX_RENDERED = 1_000

/** Calls `draw` to render the first `count` of `total` items. */
export function Fold({
  total,
  folded,
  unit,
  draw,
}: {
  total: number
  /** How many items are shown while folded. */
  folded: number
  unit: 'items' | 'lines' | 'rows'
  draw: (count: number) => ReactNode
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  // A single hidden item takes no more space than the button.
  const short = total <= folded + 1
  const count = Math.min(short || open ? total : folded, MAX_RENDERED)
  const hidden = total - count
  return (
    <>
      {draw(count)}
      {(hidden > 0 || open) && (
        <button
          type="button"
          aria-expanded={open}
          className="self-start text-note text-accent underline underline-offset-3"
          onClick={() => setOpen(!open)}
        >
          {open ? t('results.fold') : t(`results.more.${unit}`, { count: hidden })}
        </button>
      )}
      {open && hidden > 0 && (
        <p className="text-note text-muted">{t(`results.omitted.${unit}`, { count: hidden })}</p>
      )}
    </>
  )
}
