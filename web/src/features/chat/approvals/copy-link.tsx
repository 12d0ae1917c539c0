// The button that copies a link with which somebody decides the request on another device.
import { Link2 } from 'lucide-react'
import { useState } from 'react'
import { createApprovalLink } from '../../../lib/api/approvals.ts'
import { copyText } from '../../../lib/browser/copy-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../../ui/controls/button.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { reportError } from '../../../ui/states/error-text.ts'

/** Each click makes a new link, because links cannot be read again. */
export function CopyLink({ approvalId }: { approvalId: string }) {
  const { t } = useTranslation()
  const [busy, setBusy] = useState(false)
  const copy = async (): Promise<void> => {
    setBusy(true)
    try {
      const { url } = await createApprovalLink(approvalId)
      if (await copyText(url)) notify(t('link.copied'))
      else notify(t('link.notCopied', { url }), 'error')
    } catch (error) {
      reportError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <IconButton
      icon={Link2}
      size="small"
      label={t('link.copy')}
      disabled={busy}
      onClick={() => void copy()}
    />
  )
}
