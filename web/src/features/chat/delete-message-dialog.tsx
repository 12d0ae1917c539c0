// Asks before a message is deleted with everything below it; the deletion can be undone.
import { useTranslation } from 'react-i18next'
import { useDeleteMessage, useDeletionSize, useRestoreMessage } from '../../lib/api/messages.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'

/** Says how many others go with it. `messageId` null: nothing is asked. */
export function DeleteMessageDialog({
  conversationId,
  messageId,
  onClose,
}: {
  conversationId: string
  messageId: string | null
  onClose: () => void
}) {
  const { t } = useTranslation()
  const remove = useDeleteMessage(conversationId)
  const restore = useRestoreMessage(conversationId)
  const deletionSize = useDeletionSize(conversationId, messageId)
  return (
    <ConfirmDialog
      open={messageId !== null}
      onOpenChange={onClose}
      title={t('message.deleteTitle')}
      text={
        deletionSize === undefined
          ? t('message.deleteText')
          : t('message.deleteCount', { count: deletionSize })
      }
      confirm={t('common.delete')}
      onConfirm={() => {
        if (messageId === null) return
        remove.mutate(messageId, {
          onSuccess: (count) =>
            notify(t('message.deleted', { count }), 'plain', {
              label: t('message.undoDelete'),
              onClick: () => restore.mutate(messageId),
            }),
        })
      }}
    />
  )
}
