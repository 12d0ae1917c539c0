// Folds long results: the beginning is shown, and a button says how much is hidden.
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'

/** Elements beyond this number are never drawn: they would make the page stutter. The raw data has them all. */
const MOST_DRAWN = 1_000

/** @param draw draws the first `count` of the `total` items. */
export function Fold({
  total,
  folded,
  unit,
  draw,
}: {
  total: number
  /** How many are shown at first. */
  folded: number
  unit: 'items' | 'lines' | 'rows'
  draw: (count: number) => ReactNode
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  // One hidden item would take as much room as the button.
  const short = total <= folded + 1
  const count = Math.min(short || open ? total : folded, MOST_DRAWN)
  const hidden = total - count
  return (
    <>
      {draw(count)}
      {(hidden > 0 || open) && (
        <button
          type="button"
          aria-expanded={open}
          className="self-start text-[13px] text-accent underline underline-offset-3"
          onClick={() => setOpen(!open)}
        >
          {open ? t('results.fold') : t(`results.more.${unit}`, { count: hidden })}
        </button>
      )}
      {open && hidden > 0 && (
        <p className="text-[13px] text-muted">{t(`results.omitted.${unit}`, { count: hidden })}</p>
      )}
    </>
  )
}
