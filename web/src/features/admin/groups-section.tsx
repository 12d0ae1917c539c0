// The groups: list with restrictions, create, open to change.
import { Plus, Users } from 'lucide-react'
import { useState } from 'react'
import type { Group } from '../../../../server/protocol/admin/group.ts'
import { useCreateGroup, useGroups } from '../../lib/api/groups.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { FormDialog } from '../../ui/overlays/form-dialog.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { GroupDialog } from './group-dialog.tsx'
import { RESTRICTIONS } from './group-restrictions.tsx'

/** A tab of the administration. */
export function GroupsSection() {
  const { t, i18n } = useTranslation()
  const groups = useGroups()
  const [isAdding, setIsAdding] = useState(false)
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
      <div className="flex justify-end">
        <Button icon={Plus} onClick={() => setIsAdding(true)}>
          {t('admin.groups.create')}
        </Button>
      </div>
      {isAdding && <NewGroup onClose={() => setIsAdding(false)} onCreated={setOpenId} />}
      {groups.isPending && <Loading />}
      {groups.isError && (
        <Failed message={errorText(groups.error)} onRetry={() => void groups.refetch()} />
      )}
      {groups.data?.length === 0 && <Empty icon={Users} title={t('admin.groups.empty')} />}
      {(groups.data?.length ?? 0) > 0 && (
        <ul
          ref={moveFocusOnRemoval}
          className="divide-y divide-line rounded-2xl border border-line bg-surface px-4"
        >
          {groups.data?.map((group) => (
            <li key={group.id} className="flex items-center gap-3 py-3">
              <div className="min-w-0 flex-1">
                <p className="font-medium wrap-anywhere">{group.name}</p>
                <p className="text-note wrap-anywhere text-muted">
                  <Facts
                    of={[
                      t('admin.groups.members', { count: group.member_count }),
                      restricts(group),
                    ]}
                  />
                </p>
              </div>
              <Button
                size="small"
                aria-label={t('admin.groups.editOne', { name: group.name })}
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

/** Asks for the name. `onCreated` receives the id of the new group, which can then be set up. */
function NewGroup({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (id: string) => void
}) {
  const { t } = useTranslation()
  const create = useCreateGroup()
  const [name, setName] = useState('')
  return (
    <FormDialog
      title={t('admin.groups.create')}
      isReady={name.trim() !== ''}
      isPending={create.isPending}
      error={create.error}
      onSubmit={() =>
        create.mutate(
          { name },
          {
            onSuccess: ({ id }) => {
              onClose()
              onCreated(id)
            },
          },
        )
      }
      onClose={onClose}
    >
      <TextField
        label={t('admin.groups.name')}
        field="name"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}
