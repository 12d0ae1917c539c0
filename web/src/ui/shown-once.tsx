// A link or secret that is shown only once, with a button to copy it. It gets the focus so that nobody overlooks it.

import { copyText } from '../lib/browser/copy-text.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { Button } from './controls/button.tsx'
import { TextField } from './controls/field.tsx'
import { notify } from './overlays/toasts.ts'

/** For secrets that the server returns only in one response. */
export function ShownOnce({
  label,
  value,
  isFocused = true,
}: {
  label: string
  value: string
  /** Whether it takes the focus when it appears; false for what is beside another one. */
  isFocused?: boolean
}) {
  const { t } = useTranslation()
  const copy = async () => {
    if (await copyText(value)) notify(t('common.copied'), 'success')
    else notify(t('common.notCopied'), 'error')
  }
  return (
    <div className="flex items-end gap-2 rounded-xl bg-sunken p-3">
      <div className="min-w-0 flex-1">
        <TextField
          label={label}
          value={value}
          readOnly
          autoFocus={isFocused}
          onFocus={(event) => event.target.select()}
        />
      </div>
      <Button className="h-10" onClick={() => void copy()}>
        {t('common.copy')}
      </Button>
    </div>
  )
}
