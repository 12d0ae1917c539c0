// The sessions of an account: list them, end one or all.

import type { AdminUser } from '../../../../server/protocol/admin/group.ts'
import { useEndSessionOf, useSessionsOf } from '../../lib/api/admin.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { SessionList } from '../../ui/session-list.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'

/** Opened for one account. */
export function UserSessionsDialog({ user, onClose }: { user: AdminUser; onClose: () => void }) {
  const { t } = useTranslation()
  const { id, username: name } = user
  const sessions = useSessionsOf(id)
  const end = useEndSessionOf(id)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('admin.sessionsOf', { name })}
      footer={
        <>
          <Button
            disabled={end.isPending}
            onClick={() =>
              end.mutate('all', {
                onSuccess: () => notify(t('admin.signedOut', { name }), 'success'),
              })
            }
          >
            {t('admin.signOut')}
          </Button>
          <Button tone="primary" onClick={onClose}>
            {t('common.close')}
          </Button>
        </>
      }
    >
      {sessions.isPending && <Loading />}
      {sessions.isError && (
        <Failed message={errorText(sessions.error)} onRetry={() => void sessions.refetch()} />
      )}
      {sessions.data?.length === 0 && <p className="text-sm text-muted">{t('admin.noSessions')}</p>}
      <SessionList sessions={sessions.data ?? []} onEnd={(session) => end.mutate(session)} />
    </Dialog>
  )
}
