// The restrictions of a group: for each kind, its members may use everything or only chosen items.

import { Feature, type GroupPermissions } from '../../../../server/protocol/admin/group.ts'
import { ApprovalMode } from '../../../../server/protocol/conversations/conversation.ts'
import { useModels, useTools } from '../../lib/api/catalog.ts'
import { useMcpServers } from '../../lib/api/mcp.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { toolTitle } from '../../lib/tool-title.ts'
import { SelectField } from '../../ui/controls/field.tsx'

/** The kinds of things that a group can restrict. */
export const RESTRICTIONS = [
  'models',
  'tools',
  'mcp_servers',
  'approval_modes',
  'features',
] as const
type Restriction = (typeof RESTRICTIONS)[number]
type Option = { value: string; label: string }

const isFeature = (name: string): name is Feature =>
  Feature.options.some((feature) => feature === name)
const isApprovalMode = (name: string): name is ApprovalMode =>
  ApprovalMode.options.some((mode) => mode === name)

/**
 * A part of the group's form. `value` is the draft; `onChange` receives the whole changed draft. Null for a kind allows
 * everything.
 */
export function GroupRestrictions({
  value,
  onChange,
}: {
  value: GroupPermissions
  onChange: (value: GroupPermissions) => void
}) {
  const { t } = useTranslation()
  const models = useModels()
  const tools = useTools()
  const servers = useMcpServers()
  const options: Record<Restriction, Option[]> = {
    models: (models.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
    tools: (tools.data?.tools ?? [])
      .filter(({ category }) => category !== 'mcp')
      .map(({ function: { name } }) => ({ value: name, label: toolTitle(name, t) })),
    mcp_servers: (servers.data ?? []).map(({ name }) => ({ value: name, label: name })),
    approval_modes: ApprovalMode.options.map((mode) => ({
      value: mode,
      label: t(`approval.mode.${mode}`),
    })),
    features: Feature.options.map((feature) => ({
      value: feature,
      label: t(`admin.groups.feature.${feature}`),
    })),
  }
  return RESTRICTIONS.map((kind) => (
    <Restricted
      key={kind}
      label={t(`admin.groups.${kind}`)}
      options={options[kind]}
      value={value[kind]}
      fixed={kind === 'approval_modes' ? 'ask' : undefined}
      onChange={(chosen) =>
        onChange(
          kind === 'approval_modes'
            ? { ...value, approval_modes: chosen?.filter(isApprovalMode) ?? null }
            : kind === 'features'
              ? { ...value, features: chosen?.filter(isFeature) ?? null }
              : { ...value, [kind]: chosen },
        )
      }
    />
  ))
}

/** Chosen names that no longer exist stay in the list, so that they can be removed. */
function Restricted({
  label,
  options,
  value,
  fixed,
  onChange,
}: {
  label: string
  options: readonly Option[]
  value: readonly string[] | null
  /** An option that is always chosen. */
  fixed: string | undefined
  onChange: (value: string[] | null) => void
}) {
  const { t } = useTranslation()
  const removed = (value ?? []).filter((name) => !options.some((option) => option.value === name))
  const shown = [...options, ...removed.map((name) => ({ value: name, label: name }))]
  return (
    <fieldset className="mb-5 flex flex-col gap-2" aria-label={label}>
      <SelectField
        label={label}
        value={value === null ? 'all' : 'only'}
        options={[
          { value: 'all', label: t('admin.groups.everything') },
          { value: 'only', label: t('admin.groups.only') },
        ]}
        onChange={(event) =>
          onChange(event.target.value === 'all' ? null : fixed === undefined ? [] : [fixed])
        }
      />
      {value !== null && (
        <div className="grid max-h-56 gap-x-4 overflow-y-auto rounded-xl bg-sunken p-3 sm:grid-cols-2">
          {shown.length === 0 && <p className="text-sm text-muted">{t('admin.groups.none')}</p>}
          {shown.map((option) => (
            <label key={option.value} className="flex items-center gap-2 py-1 text-sm">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                disabled={option.value === fixed}
                checked={option.value === fixed || value.includes(option.value)}
                onChange={(event) =>
                  onChange(
                    event.target.checked
                      ? [...value, option.value]
                      : value.filter((name) => name !== option.value),
                  )
                }
              />
              <span className="min-w-0 wrap-anywhere">{option.label}</span>
            </label>
          ))}
        </div>
      )}
    </fieldset>
  )
}
