// The groups: creating one, what each restricts, opening one to change it.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Group } from '../../../../server/protocol/admin/group.ts'
import { useCreateGroup, useGroups } from '../../lib/api/groups.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { GroupDialog } from './group-dialog.tsx'
import { RESTRICTIONS } from './group-restrictions.tsx'

/** A tab of the administration. */
export function GroupsSection() {
  const { t, i18n } = useTranslation()
  const groups = useGroups()
  const create = useCreateGroup()
  const [name, setName] = useState('')
  const [openId, setOpenId] = useState<string | null>(null)
  const open = groups.data?.find(({ id }) => id === openId)
  const restricts = (group: Group): string => {
    const kinds = RESTRICTIONS.filter((kind) => group[kind] !== null)
    return kinds.length === 0
      ? t('admin.groups.unrestricted')
      : t('admin.groups.restricted', {
          kinds: new Intl.ListFormat(i18n.language).format(
            kinds.map((kind) => t(`admin.groups.${kind}`)),
          ),
        })
  }
  return (
    <section className="flex flex-col gap-4">
      <form
        className="flex items-end gap-3 rounded-2xl border border-line bg-surface p-4 max-sm:flex-col max-sm:items-stretch"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate(
            { name },
            {
              onSuccess: ({ id }) => {
                setName('')
                setOpenId(id)
              },
            },
          )
        }}
      >
        <div className="flex-1">
          <TextField
            label={t('admin.groups.name')}
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <Button
          tone="primary"
          type="submit"
          className="h-10"
          disabled={create.isPending || name.trim() === ''}
        >
          {t('admin.groups.create')}
        </Button>
      </form>
      {groups.isPending && <Loading />}
      {groups.isError && (
        <Failed message={errorText(groups.error)} onRetry={() => void groups.refetch()} />
      )}
      {groups.data?.length === 0 && <p className="text-sm text-muted">{t('admin.groups.empty')}</p>}
      {(groups.data?.length ?? 0) > 0 && (
        <ul className="divide-y divide-line rounded-2xl border border-line bg-surface px-4">
          {groups.data?.map((group) => (
            <li key={group.id} className="flex items-center gap-3 py-3">
              <div className="min-w-0 flex-1">
                <p className="font-medium wrap-anywhere">{group.name}</p>
                <p className="text-[13px] wrap-anywhere text-muted">
                  {t('admin.groups.members', { count: group.member_count })}
                  {' · '}
                  {restricts(group)}
                </p>
              </div>
              <Button
                size="small"
                aria-label={t('admin.groups.editTitle', { name: group.name })}
                onClick={() => setOpenId(group.id)}
              >
                {t('admin.groups.edit')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {open !== undefined && (
        <GroupDialog key={open.id} group={open} onClose={() => setOpenId(null)} />
      )}
    </section>
  )
}
