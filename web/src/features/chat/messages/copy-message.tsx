// Copies a message's text and reports whether that worked.
import { Copy } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { copyText } from '../../../lib/copy-text.ts'
import { ActionButton } from '../../../ui/action-button.tsx'
import { notify } from '../../../ui/toasts.ts'

export function CopyMessage({ text }: { text: () => string }) {
  const { t } = useTranslation()
  return (
    <ActionButton
      icon={Copy}
      label={t('common.copy')}
      onClick={() =>
        void copyText(text()).then((copied) =>
          copied ? notify(t('common.copied')) : notify(t('common.notCopied'), 'error'),
        )
      }
    />
  )
}
