// Asks for confirmation before a message and everything after it is deleted. The deletion can be undone.

import { useDeleteMessage, useDeletionSize, useRestoreMessage } from '../../lib/api/messages.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'

/** Shows how many other messages are deleted too. Closed while `messageId` is null. */
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
          : deletionSize === 1
            ? t('message.deleteOne')
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
