// Changes conversations and offers to undo the change.

import type { BulkAction } from '../../../../server/protocol/conversations/conversation.ts'
import { useChangeConversations } from '../../lib/api/bulk-changes.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { notify } from '../../ui/overlays/toasts.ts'

/**
 * Returns the function that changes conversations. `done` is called after the server's response. Failures are reported
 * centrally.
 */
export function useChangeWithUndo() {
  const { t } = useTranslation()
  // Uses the promise, because the row may unmount first, which drops the hook's callbacks.
  const { mutateAsync } = useChangeConversations()
  return (ids: readonly string[], action: BulkAction, done?: () => void): void => {
    void mutateAsync({ ids, action }).then(
      ({ changed, undo }) => {
        done?.()
        const undoAction =
          undo === undefined || changed.length === 0
            ? undefined
            : {
                label: t('conversations.undo'),
                // Failures are reported centrally.
                onClick: () => void mutateAsync({ ids: changed, action: undo }).catch(() => {}),
              }
        notify(t(`conversations.changed.${action}`, { count: changed.length }), 'plain', undoAction)
      },
      () => undefined,
    )
  }
}
