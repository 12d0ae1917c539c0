// Undoes every change to the project's files since a message, after a confirmation. The undo can be undone.
import { useTranslation } from 'react-i18next'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { useRestore } from '../../../lib/api/checkpoints.ts'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'

/**
 * The dialog that asks first. `onClose` is called after it was confirmed and when it is cancelled.
 */
export function UndoChanges({
  projectId,
  messageId,
  onClose,
}: {
  projectId: string
  messageId: MessageId
  onClose: () => void
}) {
  const { t } = useTranslation()
  const restore = useRestore(projectId)
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('history.undoSinceTitle')}
      text={t('history.undoSinceText')}
      confirm={t('history.restore')}
      onConfirm={() => {
        // The dialog is gone when the response arrives, and with it the hook's own callbacks; the promise remains.
        void restore.mutateAsync({ beforeMessageId: messageId }).then(
          ({ restored }) => notify(t('history.restored', { count: restored }), 'success'),
          () => undefined, // reported centrally for all mutations
        )
      }}
    />
  )
}
