// Invitations to register: list, create, withdraw.
import { MailPlus, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { NO_QUOTA, QuotaKindName } from '../../../../server/protocol/accounts/quota.ts'
import type { Invitation } from '../../../../server/protocol/admin/invitation.ts'
import { useInvitations, useInvite, useWithdrawInvitation } from '../../lib/api/admin.ts'
import { useGroups } from '../../lib/api/groups.ts'
import { fileSize, fullDay } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { QrCode } from '../../ui/qr-code.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { QuotaFields } from './quota-fields.tsx'

/** A tab of the administration. The link of a new invitation is shown only once. */
export function InvitationsSection() {
  const { t, i18n } = useTranslation()
  const invitations = useInvitations()
  const withdraw = useWithdrawInvitation()
  const [isAdding, setIsAdding] = useState(false)
  const state = ({ used_at: used, expires_at: expires }: Invitation): string => {
    const day = (time: string): string => fullDay(time, i18n.language)
    if (used !== null) return t('admin.usedOn', { day: day(used) })
    return t(new Date(expires) < new Date() ? 'admin.expiredOn' : 'admin.openUntil', {
      day: day(expires),
    })
  }
  const limits = ({ quota }: Invitation): string[] =>
    QuotaKindName.options.flatMap((kind) => {
      const limit = quota[kind]
      if (limit === null) return []
      const amount =
        kind === 'storage' ? fileSize(limit, i18n.language) : limit.toLocaleString(i18n.language)
      return [t('admin.detail.pair', { name: t(`quota.kind.${kind}`), value: amount })]
    })
  return (
    <section className="flex flex-col gap-4">
      <div className="flex justify-end">
        <Button icon={Plus} onClick={() => setIsAdding(true)}>
          {t('admin.invite')}
        </Button>
      </div>
      {isAdding && <NewInvitation onClose={() => setIsAdding(false)} />}
      {invitations.isPending && <Loading />}
      {invitations.isError && (
        <Failed message={errorText(invitations.error)} onRetry={() => void invitations.refetch()} />
      )}
      {invitations.data?.length === 0 && <Empty icon={MailPlus} title={t('admin.noInvitations')} />}
      {(invitations.data?.length ?? 0) > 0 && (
        <ul
          ref={moveFocusOnRemoval}
          className="divide-y divide-line rounded-2xl border border-line bg-surface px-4"
        >
          {invitations.data?.map((invitation) => {
            const name = invitation.note ?? t('admin.withoutNote')
            return (
              <li key={invitation.id} className="flex items-center gap-3 py-3">
                <div className="min-w-0 flex-1">
                  <p className="font-medium wrap-anywhere">{name}</p>
                  <p className="text-note text-muted">
                    <Facts
                      of={[
                        t(invitation.role === 'admin' ? 'admin.roleAdmin' : 'admin.roleUser'),
                        ...(invitation.group === null ? [] : [invitation.group.name]),
                        state(invitation),
                        ...limits(invitation),
                      ]}
                    />
                  </p>
                </div>
                <IconButton
                  icon={Trash2}
                  label={t('admin.withdraw', { name })}
                  size="small"
                  onClick={() => withdraw.mutate(invitation.id)}
                />
              </li>
            )
          })}
        </ul>
      )}
    </section>
  )
}

/** The choices for how many days an invitation is valid. */
const LIFETIMES_DAYS = [1, 7, 30, 90]
const DEFAULT_LIFETIME_DAYS = 7
const HOURS_PER_DAY = 24

function NewInvitation({ onClose }: { onClose: () => void }) {
  const { t, i18n } = useTranslation()
  const invite = useInvite()
  const [note, setNote] = useState('')
  const [role, setRole] = useState<'user' | 'admin'>('user')
  const [days, setDays] = useState(DEFAULT_LIFETIME_DAYS)
  const groups = useGroups()
  const [groupId, setGroupId] = useState('')
  const [quota, setQuota] = useState(NO_QUOTA)
  return (
    <FormDialog
      title={t('admin.invite')}
      isReady
      isPending={invite.isPending}
      error={invite.error}
      result={
        invite.data && (
          <div className="flex flex-col gap-4">
            <ShownOnce
              label={t('admin.invitationLink', {
                day: fullDay(invite.data.expires_at, i18n.language),
              })}
              value={invite.data.url}
            />
            <QrCode text={invite.data.url} label={t('admin.invitationCode')} />
          </div>
        )
      }
      onSubmit={() =>
        invite.mutate({
          role,
          quota,
          expires_in_hours: days * HOURS_PER_DAY,
          ...(groupId === '' ? {} : { group_id: groupId }),
          ...(note.trim() === '' ? {} : { note }),
        })
      }
      onClose={onClose}
    >
      <TextField
        label={t('admin.note')}
        maxLength={200}
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={t('admin.role')}
          value={role}
          options={[
            { value: 'user', label: t('admin.roleUser') },
            { value: 'admin', label: t('admin.roleAdmin') },
          ]}
          onChange={(event) => setRole(event.target.value === 'admin' ? 'admin' : 'user')}
        />
        <SelectField
          label={t('apiKeys.lifetime')}
          value={String(days)}
          options={LIFETIMES_DAYS.map((count) => ({
            value: String(count),
            label: t('apiKeys.days', { count }),
          }))}
          onChange={(event) => setDays(Number(event.target.value))}
        />
      </div>
      {(groups.data?.length ?? 0) > 0 && (
        <SelectField
          label={t('admin.detail.group')}
          value={groupId}
          options={[
            { value: '', label: t('admin.noGroup') },
            ...(groups.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(event) => setGroupId(event.target.value)}
        />
      )}
      <details>
        <summary className="cursor-pointer text-sm font-medium text-soft">{t('quota.own')}</summary>
        <p className="mt-2 mb-3 text-note text-muted">{t('quota.ownText')}</p>
        <QuotaFields
          kinds={QuotaKindName.options}
          value={quota}
          onChange={(kind, limit) => setQuota({ ...quota, [kind]: limit })}
        />
      </details>
    </FormDialog>
  )
}
