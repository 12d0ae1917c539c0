// The members of a group: list, remove, and search for accounts to add.
import { Plus, X } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import type { AdminUser } from '../../../../server/protocol/admin/group.ts'
import { useAdminUsers } from '../../lib/api/admin.ts'
import { membersKey, useGroupMembers } from '../../lib/api/groups.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'

const SHOWN_CANDIDATES = 5

type Account = Pick<User, 'id' | 'username'>

/** Changes of a group's members that are not saved yet. */
interface MemberDraft {
  added: readonly Account[]
  /** Ids of members. */
  removed: readonly string[]
}

/** No changes. */
export const NO_MEMBER_CHANGES: MemberDraft = { added: [], removed: [] }

/** A part of the group's form. `id` is that of the group; `onChange` receives the whole changed draft. */
export function GroupMembers({
  id,
  draft,
  onChange,
}: {
  id: string
  draft: MemberDraft
  onChange: (draft: MemberDraft) => void
}) {
  const { t } = useTranslation()
  const members = useGroupMembers(id)
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const { added, removed } = draft
  const stored = (members.data?.pages.flatMap((page) => page.items) ?? []).filter(
    (member) => !added.some((one) => one.id === member.id),
  )
  const shown: Account[] = [...added, ...stored.filter((member) => !removed.includes(member.id))]
  const add = (account: Account): void =>
    onChange(
      removed.includes(account.id)
        ? { added, removed: removed.filter((one) => one !== account.id) }
        : { added: [account, ...added], removed },
    )
  const remove = (account: Account): void =>
    onChange(
      added.includes(account)
        ? { added: added.filter((one) => one !== account), removed }
        : { added, removed: [...removed, account.id] },
    )
  return (
    <section className="mb-5 flex flex-col gap-2">
      <h3 className="text-sm font-medium text-soft">{t('admin.groups.membersTitle')}</h3>
      {/* Above the list of members, so that adding one does not move the results. */}
      <TextField
        label={t('admin.groups.find')}
        type="search"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {search !== '' && (
        <Candidates
          text={search}
          isMember={(user) =>
            added.some((one) => one.id === user.id) ||
            (user.groups.some((group) => group.id === id) && !removed.includes(user.id))
          }
          onAdd={add}
        />
      )}
      {members.isPending && <Loading />}
      {members.isError && !members.isFetchNextPageError && (
        <Failed message={errorText(members.error)} onRetry={() => void members.refetch()} />
      )}
      <ul ref={moveFocusOnRemoval}>
        {shown.map((user) => (
          <li key={user.id} className="flex items-center gap-2 py-1">
            <span className="min-w-0 flex-1 wrap-anywhere">{user.username}</span>
            <IconButton
              icon={X}
              size="small"
              label={t('admin.groups.removeFrom', { name: user.username })}
              onClick={() => remove(user)}
            />
          </li>
        ))}
      </ul>
      <ShowMore list={members} queryKey={membersKey(id)} size="small" />
    </section>
  )
}

function Candidates({
  text,
  isMember,
  onAdd,
}: {
  text: string
  isMember: (user: AdminUser) => boolean
  onAdd: (account: Account) => void
}) {
  const { t } = useTranslation()
  const users = useAdminUsers(text)
  const found = (users.data?.pages.flatMap((page) => page.items) ?? [])
    .filter((user) => !isMember(user))
    .slice(0, SHOWN_CANDIDATES)
  return (
    <ul className="rounded-xl bg-sunken px-3 py-1">
      {found.length === 0 && !users.isPending && (
        <li className="py-1 text-sm text-muted">{t('admin.groups.none')}</li>
      )}
      {found.map((user) => (
        <li key={user.id} className="flex items-center gap-2 py-1">
          <span className="min-w-0 flex-1 wrap-anywhere">{user.username}</span>
          <Button
            size="small"
            icon={Plus}
            aria-label={t('admin.groups.addTo', { name: user.username })}
            onClick={() => onAdd(user)}
          >
            {t('admin.groups.add')}
          </Button>
        </li>
      ))}
    </ul>
  )
}
