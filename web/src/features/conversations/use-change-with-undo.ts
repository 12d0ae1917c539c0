// Changes conversations and offers to undo it.
import { useTranslation } from 'react-i18next'
import type { BulkAction } from '../../../../server/protocol/conversations/conversation.ts'
import { useChangeConversations } from '../../lib/api/bulk-changes.ts'
import { notify } from '../../ui/overlays/toasts.ts'

/** Returns the function that does it; `done` is called once the server has. Failures are reported centrally. */
export function useChangeWithUndo() {
  const { t } = useTranslation()
  // The promise is used, because the row, and with it the hook's own callbacks, may be gone by then.
  const { mutateAsync } = useChangeConversations()
  return (ids: readonly string[], action: BulkAction, done?: () => void): void => {
    void mutateAsync({ ids, action }).then(
      ({ changed, undo }) => {
        done?.()
        const takeBack =
          undo === undefined || changed.length === 0
            ? undefined
            : {
                label: t('conversations.undo'),
                // Failures are reported centrally.
                onClick: () => void mutateAsync({ ids: changed, action: undo }).catch(() => {}),
              }
        notify(t(`conversations.changed.${action}`, { count: changed.length }), 'plain', takeBack)
      },
      () => undefined,
    )
  }
}
