// The confirmation before conversations are deleted permanently.
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'

/** `count`: how many conversations are deleted. */
export function ConfirmDeletion({
  count,
  open,
  onOpenChange,
  onConfirm,
}: {
  count: number
  open: boolean
  onOpenChange: (open: boolean) => void
  onConfirm: () => void
}) {
  const { t } = useTranslation()
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('conversations.deleteForGoodTitle', { count })}
      text={t('conversations.deleteForGoodText')}
      confirm={t('conversations.deleteNow')}
      onConfirm={onConfirm}
    />
  )
}
