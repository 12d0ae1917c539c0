// The dialog of a group: its name, members, restrictions and limits, and a button to delete it.
import { useState } from 'react'
import { QuotaKindName } from '../../../../server/protocol/accounts/quota.ts'
import type { Group } from '../../../../server/protocol/admin/group.ts'
import { useDeleteGroup, useSaveGroup } from '../../lib/api/groups.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { ConfirmDialog, Dialog } from '../../ui/overlays/dialog.tsx'
import { GroupMembers, NO_MEMBER_CHANGES } from './group-members.tsx'
import { GroupRestrictions } from './group-restrictions.tsx'
import { QuotaFields } from './quota-fields.tsx'

const SHARED_KINDS = QuotaKindName.extract([
  'tokens_per_day',
  'tokens_per_month',
  'cost_per_day',
  'cost_per_month',
]).options

/** Nothing changes before it is saved. */
export function GroupDialog({ group, onClose }: { group: Group; onClose: () => void }) {
  const { t } = useTranslation()
  const save = useSaveGroup(group.id)
  const remove = useDeleteGroup()
  const [draft, setDraft] = useState(group)
  const [members, setMembers] = useState(NO_MEMBER_CHANGES)
  const [isRemoving, setIsRemoving] = useState(false)
  const { name, description, models, tools, mcp_servers, approval_modes, quota, shared_quota } =
    draft
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('admin.groups.editTitle', { name: group.name })}
      footer={
        <>
          <Button tone="danger" className="me-auto" onClick={() => setIsRemoving(true)}>
            {t('common.delete')}
          </Button>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button
            tone="primary"
            disabled={save.isPending || name.trim() === ''}
            onClick={() =>
              save.mutate(
                {
                  name,
                  description,
                  models,
                  tools,
                  mcp_servers,
                  approval_modes,
                  quota,
                  shared_quota,
                  members: { add: members.added.map(({ id }) => id), remove: members.removed },
                },
                { onSuccess: onClose },
              )
            }
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="mb-5 flex flex-col gap-4">
        <TextField
          label={t('admin.groups.name')}
          maxLength={100}
          value={name}
          onChange={(event) => setDraft({ ...draft, name: event.target.value })}
        />
        <TextField
          label={t('admin.groups.description')}
          maxLength={500}
          value={description}
          onChange={(event) => setDraft({ ...draft, description: event.target.value })}
        />
      </div>
      <GroupMembers id={group.id} draft={members} onChange={setMembers} />
      <GroupRestrictions value={draft} onChange={(next) => setDraft({ ...draft, ...next })} />
      <h3 className="mb-3 text-sm font-medium text-soft">{t('quota.each')}</h3>
      <QuotaFields
        kinds={QuotaKindName.options}
        value={quota}
        onChange={(kind, limit) => setDraft({ ...draft, quota: { ...quota, [kind]: limit } })}
      />
      <h3 className="mb-3 text-sm font-medium text-soft">{t('quota.shared')}</h3>
      <QuotaFields
        kinds={SHARED_KINDS}
        value={shared_quota}
        onChange={(kind, limit) =>
          setDraft({ ...draft, shared_quota: { ...shared_quota, [kind]: limit } })
        }
      />
      <ConfirmDialog
        open={isRemoving}
        onOpenChange={setIsRemoving}
        title={t('admin.groups.remove')}
        text={t('admin.groups.removeText')}
        confirm={t('admin.groups.remove')}
        onConfirm={() => remove.mutate(group.id, { onSuccess: onClose })}
      />
    </Dialog>
  )
}
