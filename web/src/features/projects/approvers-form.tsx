// Who else decides in a project, and whether somebody else must: a part of its settings on servers with accounts.
import { Trash2, User, Users } from 'lucide-react'
import { useState } from 'react'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import type { ProjectWithApprovers } from '../../../../server/protocol/projects/project.ts'
import { useUpdateProject } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { Switch } from '../../ui/controls/switch.tsx'

/** The list of approvers with a field that adds one by name, and the switch. The server refuses names of nobody. */
export function ApproversForm({ project }: { project: ProjectWithApprovers & { id: ProjectId } }) {
  const { t } = useTranslation()
  const update = useUpdateProject()
  const [kind, setKind] = useState<'user' | 'group'>('user')
  const [name, setName] = useState('')
  const { id, approvers, approver_names: names, approval_by } = project
  const add = async (): Promise<void> => {
    await update.mutateAsync({ id, approvers: [...approvers, `${kind}:@${name.trim()}`] })
    setName('')
  }
  return (
    <div className="flex flex-col gap-5">
      <form
        aria-label={t('project.approvers')}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          // A refusal is shown as a notice; the name stays.
          add().catch(() => undefined)
        }}
      >
        <div className="flex flex-col gap-1">
          <h3 className="text-sm font-medium">{t('project.approvers')}</h3>
          <p className="text-note text-muted">{t('project.approversHint')}</p>
        </div>
        {approvers.length > 0 && (
          <ul className="flex flex-col divide-y divide-line rounded-xl border border-line">
            {approvers.map((approver, place) => {
              const Icon = approver.startsWith('group:') ? Users : User
              const shown = names[place] ?? approver
              return (
                <li key={approver} className="flex items-center gap-2 py-1 ps-3 pe-1.5">
                  <Icon size={15} aria-hidden className="shrink-0 text-muted" />
                  <bdi className="min-w-0 flex-1 text-sm [overflow-wrap:anywhere]">{shown}</bdi>
                  <IconButton
                    icon={Trash2}
                    size="small"
                    label={t('project.approverRemove', { name: shown })}
                    disabled={update.isPending}
                    onClick={() =>
                      update.mutate({ id, approvers: approvers.filter((one) => one !== approver) })
                    }
                  />
                </li>
              )
            })}
          </ul>
        )}
        <div className="flex flex-wrap items-end gap-2">
          <Segmented
            label={t('project.approverKind')}
            value={kind}
            options={[
              { value: 'user', label: t('project.approverUser') },
              { value: 'group', label: t('project.approverGroup') },
            ]}
            onChange={setKind}
          />
          <div className="min-w-40 flex-1 max-sm:basis-full">
            <TextField
              label={t('project.approverName')}
              value={name}
              maxLength={100}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setName(event.target.value)}
            />
          </div>
          <Button
            type="submit"
            tone={name.trim() === '' ? 'plain' : 'primary'}
            disabled={name.trim() === '' || update.isPending}
          >
            {t('project.approverAdd')}
          </Button>
        </div>
      </form>
      <Switch
        label={t('project.others')}
        hint={t('project.othersHint')}
        checked={approval_by === 'others'}
        onChange={(on) => update.mutate({ id, approval_by: on ? 'others' : 'anyone' })}
      />
    </div>
  )
}
