// The limits of an account: the effective ones with their usage, and its own.
import { useState } from 'react'
import { QuotaKindName } from '../../../../server/protocol/accounts/quota.ts'
import type { AdminUser } from '../../../../server/protocol/admin/group.ts'
import { usePatchUser } from '../../lib/api/admin.ts'
import { useQuotaOf } from '../../lib/api/quota.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { QuotaMeters } from '../../ui/quota-meters.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { QuotaFields } from './quota-fields.tsx'

/** Opened for one account. An empty limit is taken from the account's groups or the server. */
export function UserQuotaDialog({ user, onClose }: { user: AdminUser; onClose: () => void }) {
  const { t } = useTranslation()
  const report = useQuotaOf(user.id)
  const patch = usePatchUser()
  const [quota, setQuota] = useState(user.quota)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('quota.of', { name: user.username })}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button
            tone="primary"
            disabled={patch.isPending}
            onClick={() => patch.mutate({ id: user.id, quota }, { onSuccess: onClose })}
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      <h3 className="mb-1 text-sm font-medium text-soft">{t('quota.own')}</h3>
      <p className="mb-3 text-note text-muted">{t('quota.ownText')}</p>
      <QuotaFields
        kinds={QuotaKindName.options}
        value={quota}
        onChange={(kind, limit) => setQuota({ ...quota, [kind]: limit })}
      />
      <h3 className="mb-3 text-sm font-medium text-soft">{t('quota.applies')}</h3>
      {report.isPending && <Loading />}
      {report.isError && (
        <Failed message={errorText(report.error)} onRetry={() => void report.refetch()} />
      )}
      {report.data !== undefined && <QuotaMeters items={report.data.items} />}
    </Dialog>
  )
}
