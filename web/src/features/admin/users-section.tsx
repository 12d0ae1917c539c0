// The accounts: search, roles, states, limits, sessions, links for a new password.
import {
  Ellipsis,
  KeyRound,
  MonitorSmartphone,
  ShieldOff,
  Trash2,
  UserCheck,
  UserCog,
  UserX,
} from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import type { AdminUser } from '../../../../server/protocol/admin/group.ts'
import {
  ACCOUNT_KINDS,
  type AccountKind,
  matchingUsersKey,
  useAdminUsers,
  usePatchUser,
  useResetLink,
  useResetSecondFactors,
} from '../../lib/api/admin.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { Facts } from '../../ui/facts.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { DeleteUserDialog } from './delete-user-dialog.tsx'
import { UserQuotaDialog } from './user-quota-dialog.tsx'
import { UserSessionsDialog } from './user-sessions-dialog.tsx'

/** The first tab of the administration. `ownId` is the administrator's own account, which is marked. */
export function UsersSection({ ownId }: { ownId: string | undefined }) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [kind, setKind] = useState<AccountKind>('all')
  const search = useDeferredValue(text.trim())
  const users = useAdminUsers(search, kind)
  const kindText = {
    all: t('admin.allAccounts'),
    admin: t('admin.roleAdmin'),
    user: t('admin.roleUser'),
    disabled: t('admin.onlyDisabled'),
  }
  const items = users.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <section className="flex flex-col gap-4">
      <div className="grid gap-3 sm:grid-cols-[1fr_14rem]">
        <TextField
          label={t('admin.search')}
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <SelectField
          label={t('admin.kind')}
          value={kind}
          options={ACCOUNT_KINDS.map((value) => ({ value, label: kindText[value] }))}
          onChange={(event) =>
            setKind(ACCOUNT_KINDS.find((value) => value === event.target.value) ?? 'all')
          }
        />
      </div>
      {users.isPending && <Loading />}
      {users.isError && !users.isFetchNextPageError && (
        <Failed message={errorText(users.error)} onRetry={() => void users.refetch()} />
      )}
      <ul
        ref={moveFocusOnRemoval}
        className="divide-y divide-line rounded-2xl border border-line bg-surface px-4 empty:hidden"
      >
        {items.map((user) => (
          <Account key={user.id} user={user} isOwn={user.id === ownId} />
        ))}
      </ul>
      <ShowMore list={users} queryKey={matchingUsersKey(search, kind)} />
    </section>
  )
}

function Account({ user, isOwn }: { user: AdminUser; isOwn: boolean }) {
  const { t } = useTranslation()
  const patch = usePatchUser()
  const reset = useResetLink()
  const resetFactors = useResetSecondFactors()
  const [isResetting, setIsResetting] = useState(false)
  const [isDisabling, setIsDisabling] = useState(false)
  const [isDeleting, setIsDeleting] = useState(false)
  const [isOpen, setIsOpen] = useState(false)
  const [areSessionsOpen, setAreSessionsOpen] = useState(false)
  const { id, username: name } = user
  const isAdmin = user.role === 'admin'
  return (
    <li className="py-3">
      <div className="flex items-center gap-2">
        <div className="min-w-0 flex-1">
          <p className="font-medium wrap-anywhere">{name}</p>
          <p className="text-note wrap-anywhere text-muted">
            <Facts
              of={[
                t(isAdmin ? 'admin.roleAdmin' : 'admin.roleUser'),
                ...(user.email === null ? [] : [user.email]),
                ...user.groups.map((group) => group.name),
                ...(user.is_active ? [] : [t('admin.disabled')]),
                ...(isOwn ? [t('admin.you')] : []),
              ]}
            />
          </p>
        </div>
        <fieldset className="flex shrink-0 items-center gap-1" aria-label={name}>
          <Button size="small" aria-label={t('quota.of', { name })} onClick={() => setIsOpen(true)}>
            {t('quota.open')}
          </Button>
          {!isOwn && (
            <Menu
              align="end"
              trigger={
                <IconButton icon={Ellipsis} label={t('admin.actionsFor', { name })} size="small" />
              }
            >
              <MenuItem icon={MonitorSmartphone} onSelect={() => setAreSessionsOpen(true)}>
                {t('admin.sessions')}
              </MenuItem>
              <MenuItem icon={KeyRound} onSelect={() => reset.mutate(id)}>
                {t('admin.resetLink')}
              </MenuItem>
              <MenuItem icon={ShieldOff} onSelect={() => setIsResetting(true)}>
                {t('admin.resetFactors')}
              </MenuItem>
              <MenuSeparator />
              <MenuItem
                icon={UserCog}
                onSelect={() => patch.mutate({ id, role: isAdmin ? 'user' : 'admin' })}
              >
                {t(isAdmin ? 'admin.makeUser' : 'admin.makeAdmin')}
              </MenuItem>
              <MenuItem
                icon={user.is_active ? UserX : UserCheck}
                onSelect={() =>
                  user.is_active ? setIsDisabling(true) : patch.mutate({ id, is_active: true })
                }
              >
                {t(user.is_active ? 'admin.disable' : 'admin.enable')}
              </MenuItem>
              <MenuSeparator />
              <MenuItem icon={Trash2} danger onSelect={() => setIsDeleting(true)}>
                {t('admin.deleteUser')}
              </MenuItem>
            </Menu>
          )}
        </fieldset>
      </div>
      <ConfirmDialog
        open={isResetting}
        onOpenChange={setIsResetting}
        title={t('admin.resetFactorsTitle', { name })}
        text={t('admin.resetFactorsText')}
        confirm={t('admin.resetFactors')}
        onConfirm={() =>
          resetFactors.mutate(id, {
            onSuccess: () => notify(t('admin.factorsReset', { name }), 'success'),
          })
        }
      />
      <ConfirmDialog
        open={isDisabling}
        onOpenChange={setIsDisabling}
        title={t('admin.disableTitle', { name })}
        text={t('admin.disableText')}
        confirm={t('admin.disable')}
        onConfirm={() => patch.mutate({ id, is_active: false })}
      />
      {isDeleting && <DeleteUserDialog user={user} onClose={() => setIsDeleting(false)} />}
      {areSessionsOpen && (
        <UserSessionsDialog user={user} onClose={() => setAreSessionsOpen(false)} />
      )}
      {isOpen && <UserQuotaDialog user={user} onClose={() => setIsOpen(false)} />}
      {reset.data !== undefined && (
        <div className="mt-4">
          <ShownOnce
            key={reset.data.url}
            label={t('admin.resetLinkOf', { name })}
            value={reset.data.url}
          />
        </div>
      )}
    </li>
  )
}
