// The dialog that undoes all changes to the project's files since a message. The undo can be undone.

import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { useRestore } from '../../../lib/api/checkpoints.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'

/** Asks for confirmation. `onClose` is called after confirming and after cancelling. */
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
      confirm={t('conversations.undo')}
      onConfirm={() => {
        // The dialog unmounts before the response arrives, which drops the hook's callbacks; the promise still resolves.
        void restore.mutateAsync({ beforeMessageId: messageId }).then(
          ({ restored }) => notify(t('history.restored', { count: restored }), 'success'),
          () => undefined, // reported centrally for all mutations
        )
      }}
    />
  )
}
