// The dialog that deletes an account, with the choice of what happens to its data.
import { useDeferredValue, useState } from 'react'
import type { AdminUser } from '../../../../server/protocol/admin/group.ts'
import {
  ACCOUNT_DATA,
  type AccountData,
  useAdminUsers,
  useDeleteUser,
} from '../../lib/api/admin.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'

/** Opened for one account. The data can be handed over to any other active account. */
export function DeleteUserDialog({ user, onClose }: { user: AdminUser; onClose: () => void }) {
  const { t } = useTranslation()
  const remove = useDeleteUser()
  const [data, setData] = useState<AccountData>('delete')
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState('')
  const found = useAdminUsers(useDeferredValue(text.trim()))
  const heirs = (found.data?.pages.flatMap((page) => page.items) ?? []).filter(
    ({ id, is_active: isActive }) => isActive && id !== user.id,
  )
  const heir = heirs.find(({ id }) => id === chosen)?.id ?? heirs[0]?.id ?? ''
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('admin.deleteTitle', { name: user.username })}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button
            tone="danger"
            disabled={remove.isPending || (data === 'hand_over' && heir === '')}
            onClick={() => remove.mutate({ id: user.id, data, heir }, { onSuccess: onClose })}
          >
            {t('admin.deleteUser')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <SelectField
          label={t('admin.deleteData.label')}
          value={data}
          options={ACCOUNT_DATA.map((value) => ({ value, label: t(`admin.deleteData.${value}`) }))}
          onChange={({ target }) =>
            setData(ACCOUNT_DATA.find((value) => value === target.value) ?? 'delete')
          }
        />
        <p className="text-sm text-soft">{t(`admin.deleteDataText.${data}`)}</p>
        {data === 'hand_over' && (
          <>
            <TextField
              label={t('admin.heirSearch')}
              type="search"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
            {heir === '' && !found.isPending ? (
              <p role="status" className="text-sm text-muted">
                {t('admin.groups.none')}
              </p>
            ) : (
              <SelectField
                label={t('admin.heir')}
                value={heir}
                options={heirs.map(({ id, username }) => ({ value: id, label: username }))}
                onChange={(event) => setChosen(event.target.value)}
              />
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}
