// A link that is shown once: to be copied and sent to whom it is for.
import { useTranslation } from 'react-i18next'
import { copyText } from '../../lib/copy-text.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { notify } from '../../ui/toasts.ts'

export function OneTimeLink({ label, url }: { label: string; url: string }) {
  const { t } = useTranslation()
  const copy = async () => {
    if (await copyText(url)) notify(t('common.copied'), 'success')
    else notify(t('common.notCopied'), 'error')
  }
  return (
    <div className="mt-4 flex items-end gap-2 rounded-xl bg-sunken p-3">
      <div className="min-w-0 flex-1">
        <TextField label={label} value={url} readOnly onFocus={(event) => event.target.select()} />
      </div>
      <Button className="h-10" onClick={() => void copy()}>
        {t('common.copy')}
      </Button>
    </div>
  )
}
