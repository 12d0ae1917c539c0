// What runs of people who write through a channel begin with, and which of their messages start one.
import { ApprovalMode } from '../../../../server/protocol/conversations/conversation.ts'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import {
  GroupMode,
  type ReceiveBody,
  type ReceiveSettings,
} from '../../../../server/protocol/programs/channel.ts'
import { useModels } from '../../lib/api/catalog.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { SelectField } from '../../ui/controls/field.tsx'
import { ProjectField } from '../../ui/controls/project-field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'

/** What the person has chosen. */
export interface ReceiveChoices {
  projectId: ProjectId | null
  model: string
  approval: ApprovalMode
  groups: GroupMode
  shared: boolean
}

/** What a new channel begins with. */
const STARTING_CHOICES: ReceiveChoices = {
  projectId: null,
  model: '',
  approval: 'ask',
  groups: 'off',
  shared: false,
}

/** What a channel begins with that exists. */
export const choicesOf = (receive: ReceiveSettings | null): ReceiveChoices =>
  receive === null
    ? STARTING_CHOICES
    : {
        projectId: receive.project_id,
        model: receive.model ?? '',
        approval: receive.approval,
        groups: receive.groups,
        shared: receive.shared,
      }

/** The choices as the server expects them. */
export const receiveOf = (
  { projectId, model, approval, groups, shared }: ReceiveChoices,
  hasGroups: boolean,
): ReceiveBody => ({
  project_id: projectId ?? undefined,
  model: model === '' ? undefined : model,
  approval: shared ? 'ask' : approval,
  groups: hasGroups ? groups : undefined,
  shared: shared || undefined,
})

/** Folded until a person opens it. */
export function ReceiveFields({
  hasGroups,
  canShare,
  value,
  onChange,
}: {
  hasGroups: boolean
  canShare: boolean
  value: ReceiveChoices
  onChange: (value: ReceiveChoices) => void
}) {
  const { t } = useTranslation()
  const { data: models = [] } = useModels()
  const modes = value.shared ? (['ask'] as const) : ApprovalMode.options
  return (
    <details className="group">
      <summary className="touch-target w-fit cursor-pointer text-sm font-medium text-soft">
        {t('channels.receive.more')}
      </summary>
      <div className="mt-3 flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <ProjectField
            label={t('channels.receive.project')}
            field="receive.project_id"
            value={value.projectId}
            onChange={(projectId) => onChange({ ...value, projectId })}
          />
          <SelectField
            label={t('channels.receive.model')}
            field="receive.model"
            value={value.model}
            options={[
              { value: '', label: t('common.default') },
              ...models.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            onChange={({ target }) => onChange({ ...value, model: target.value })}
          />
          <SelectField
            label={t('approval.heading')}
            field="receive.approval"
            value={value.shared ? 'ask' : value.approval}
            options={modes.map((one) => ({ value: one, label: t(`approval.mode.${one}`) }))}
            onChange={({ target }) =>
              onChange({
                ...value,
                approval: ApprovalMode.options.find((one) => one === target.value) ?? 'ask',
              })
            }
          />
          {hasGroups && (
            <SelectField
              label={t('channels.receive.groups')}
              field="receive.groups"
              value={value.groups}
              options={GroupMode.options.map((one) => ({
                value: one,
                label: t(`channels.receive.group.${one}`),
              }))}
              onChange={({ target }) =>
                onChange({
                  ...value,
                  groups: GroupMode.options.find((one) => one === target.value) ?? 'off',
                })
              }
            />
          )}
        </div>
        {canShare && (
          <Switch
            label={t('channels.receive.shared')}
            hint={t('channels.receive.sharedHint')}
            checked={value.shared}
            onChange={(shared) => onChange({ ...value, shared })}
          />
        )}
      </div>
    </details>
  )
}
