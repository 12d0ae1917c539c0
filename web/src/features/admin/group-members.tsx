// The members of a group: list, remove, and search for accounts to add.
import { Plus, X } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useAdminUsers } from '../../lib/api/admin.ts'
import { membersKey, useChangeMember, useGroupMembers } from '../../lib/api/groups.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'

const SHOWN_CANDIDATES = 5

/** `id` is that of the group. Every change is stored at once. */
export function GroupMembers({ id }: { id: string }) {
  const { t } = useTranslation()
  const members = useGroupMembers(id)
  const change = useChangeMember(id)
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const items = members.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <section className="flex flex-col gap-2">
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
          groupId={id}
          onAdd={(userId) => change.mutate({ userId, add: true })}
        />
      )}
      {members.isPending && <Loading />}
      {members.isError && !members.isFetchNextPageError && (
        <Failed message={errorText(members.error)} onRetry={() => void members.refetch()} />
      )}
      <ul ref={moveFocusOnRemoval}>
        {items.map((user) => (
          <li key={user.id} className="flex items-center gap-2 py-1">
            <span className="min-w-0 flex-1 wrap-anywhere">{user.username}</span>
            <IconButton
              icon={X}
              size="small"
              label={t('admin.groups.removeFrom', { name: user.username })}
              onClick={() => change.mutate({ userId: user.id, add: false })}
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
  groupId,
  onAdd,
}: {
  text: string
  groupId: string
  onAdd: (userId: string) => void
}) {
  const { t } = useTranslation()
  const users = useAdminUsers(text)
  const found = (users.data?.pages.flatMap((page) => page.items) ?? [])
    .filter(({ groups }) => groups.every((group) => group.id !== groupId))
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
            onClick={() => onAdd(user.id)}
          >
            {t('admin.groups.add')}
          </Button>
        </li>
      ))}
    </ul>
  )
}
