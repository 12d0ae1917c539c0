// The choice between the user's edit and what somebody else has stored meanwhile.
import type { MouseEvent } from 'react'
import { focusText } from '../../lib/browser/focus-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../controls/button.tsx'

/** `text` says what has changed. */
export function ChangedElsewhere({
  text,
  onReload,
  onOverwrite,
}: {
  text: string
  onReload: () => void
  onOverwrite: () => void
}) {
  const { t } = useTranslation()
  /** Continues in the text, because the buttons disappear. */
  const choose =
    (act: () => void) =>
    ({ currentTarget }: MouseEvent): void => {
      focusText(currentTarget.closest('form, section'))
      act()
    }
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-2 border-b border-warn/40 bg-warn-soft px-3 py-2 text-sm text-warn"
    >
      <span className="flex-1">{text}</span>
      <Button size="small" onClick={choose(onReload)}>
        {t('files.takeTheirs')}
      </Button>
      <Button size="small" tone="danger" onClick={choose(onOverwrite)}>
        {t('files.keepMine')}
      </Button>
    </div>
  )
}
