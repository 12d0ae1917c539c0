// The server: active runs, storage, health, registration, sharing, models in menus, MCP servers.

import type { ReactNode } from 'react'
import type {
  HealthFinding,
  PatchServerSettings,
  ServerSettings,
} from '../../../../server/protocol/admin/server.ts'
import { ApprovalMode } from '../../../../server/protocol/conversations/conversation.ts'
import { useAdminModels } from '../../lib/api/catalog.ts'
import {
  useAdminMcpServers,
  useAdminRuns,
  useChangeServerSettings,
  useHealth,
  useServerSettings,
  useStopRun,
} from '../../lib/api/server.ts'
import { fullTime } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField } from '../../ui/controls/field.tsx'
import { Facts } from '../../ui/facts.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { configuredDefault } from './configured-default.ts'
import { useFindingText } from './finding-text.ts'
import { ListedModels } from './listed-models.tsx'
import { Storage } from './storage.tsx'

const listClass = 'divide-y divide-line rounded-2xl border border-line bg-surface px-4'

/** A tab of the administration. Each part loads separately, so that a failed one does not hide the others. */
export function ServerSection() {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-8">
      {(
        [
          ['runs', <Runs key="runs" />],
          ['settings', <Settings key="settings" />],
          ['storage', <Storage key="storage" />],
          ['mcp', <McpServers key="mcp" />],
          ['health', <Health key="health" />],
        ] as const
      ).map(([name, content]) => (
        <section key={name} className="flex flex-col gap-3">
          <h2 className="text-base font-semibold tracking-tight">{t(`admin.server.${name}`)}</h2>
          {content}
        </section>
      ))}
    </div>
  )
}

function Runs() {
  const { t, i18n } = useTranslation()
  const runs = useAdminRuns()
  const stop = useStopRun()
  if (runs.isPending) return <Loading />
  if (runs.isError)
    return <Failed message={errorText(runs.error)} onRetry={() => void runs.refetch()} />
  if (runs.data.length === 0)
    return <p className="text-sm text-muted">{t('admin.server.noRuns')}</p>
  return (
    <ul className={listClass}>
      {runs.data.map((run) => (
        <li key={run.id} className="flex items-center gap-3 py-3">
          <div className="min-w-0 flex-1">
            <p className="font-medium wrap-anywhere">{run.username}</p>
            <p className="text-note wrap-anywhere text-muted">
              <Facts
                of={[
                  run.model,
                  t(`background.status.${run.status}`),
                  fullTime(run.started_at, i18n.language),
                ]}
              />
            </p>
          </div>
          <Button
            size="small"
            disabled={stop.isPending}
            aria-label={t('admin.server.stopRun', { name: run.username })}
            onClick={() => stop.mutate(run.id)}
          >
            {t('admin.server.stop')}
          </Button>
        </li>
      ))}
    </ul>
  )
}

const isRegistration = (text: string): text is ServerSettings['effective']['registration'] =>
  ['open', 'invite', 'closed'].includes(text)
const isSharing = (text: string): text is ServerSettings['effective']['sharing'] =>
  ['on', 'off'].includes(text)

function Settings() {
  const { t } = useTranslation()
  const settings = useServerSettings()
  const change = useChangeServerSettings()
  const models = useAdminModels(true)
  if (settings.isPending) return <Loading />
  if (settings.isError)
    return <Failed message={errorText(settings.error)} onRetry={() => void settings.refetch()} />
  const { registration, sharing, configured } = settings.data
  const { default_model: chosen, default_approval: approval } = settings.data
  const modelOptions = (models.data ?? []).map(({ id, name }) => ({ value: id, label: name ?? id }))
  const first = configuredDefault(models.data ?? [], configured.default_model)
  const asConfigured = (value: string) => t('admin.server.asConfiguredNow', { value })
  const set = (body: PatchServerSettings) => change.mutate(body)
  return (
    <div className="flex flex-col gap-4 rounded-2xl border border-line bg-surface p-4">
      <SelectField
        label={t('admin.server.registration')}
        value={registration ?? ''}
        options={[
          {
            value: '',
            label: asConfigured(t(`admin.server.${configured.registration}`)),
          },
          { value: 'open', label: t('admin.server.open') },
          { value: 'invite', label: t('admin.server.invite') },
          { value: 'closed', label: t('admin.server.closed') },
        ]}
        onChange={({ target: { value } }) =>
          set({ registration: isRegistration(value) ? value : null })
        }
      />
      <SelectField
        label={t('admin.server.sharing')}
        value={sharing ?? ''}
        options={[
          { value: '', label: asConfigured(t(`admin.server.${configured.sharing}`)) },
          { value: 'on', label: t('admin.server.on') },
          { value: 'off', label: t('admin.server.off') },
        ]}
        onChange={({ target: { value } }) => set({ sharing: isSharing(value) ? value : null })}
      />
      <SelectField
        label={t('admin.server.defaultModel')}
        value={chosen ?? ''}
        options={[
          {
            value: '',
            label:
              first === undefined
                ? t('admin.server.asConfigured')
                : asConfigured(first.name ?? first.id),
          },
          ...modelOptions,
        ]}
        onChange={({ target: { value } }) => set({ default_model: value === '' ? null : value })}
      />
      <SelectField
        label={t('admin.server.defaultApproval')}
        value={approval ?? ''}
        options={[
          {
            value: '',
            label: asConfigured(t(`approval.mode.${configured.default_approval}`)),
          },
          ...ApprovalMode.options.map((mode) => ({
            value: mode,
            label: t(`approval.mode.${mode}`),
          })),
        ]}
        onChange={({ target: { value } }) =>
          set({ default_approval: ApprovalMode.options.find((mode) => mode === value) ?? null })
        }
      />
      <ListedModels models={models.data ?? []} settings={settings.data} onChange={set} />
    </div>
  )
}

function McpServers() {
  const { t } = useTranslation()
  const servers = useAdminMcpServers()
  if (servers.isPending) return <Loading />
  if (servers.isError)
    return <Failed message={errorText(servers.error)} onRetry={() => void servers.refetch()} />
  if (servers.data.length === 0)
    return <p className="text-sm text-muted">{t('admin.server.noServers')}</p>
  return (
    <ul className={listClass}>
      {servers.data.map(({ name, state, users, groups }) => (
        <li key={name} className="py-3">
          <p className="font-medium wrap-anywhere">{name}</p>
          <p className="text-note wrap-anywhere text-muted">
            <Facts
              of={[
                t(`mcp.status.${state}`),
                users === null ? t('admin.server.everybody') : users.join(', '),
                ...(groups.length === 0
                  ? []
                  : [t('admin.server.inGroups', { groups: groups.join(', ') })]),
              ]}
            />
          </p>
        </li>
      ))}
    </ul>
  )
}

const STATE_CLASSES: Record<HealthFinding['state'], string> = {
  ok: 'text-ok',
  warn: 'text-warn',
  fail: 'text-bad',
}

function Health() {
  const { t } = useTranslation()
  const health = useHealth()
  const textOf = useFindingText()
  if (health.isPending) return <Loading />
  if (health.isError)
    return <Failed message={errorText(health.error)} onRetry={() => void health.refetch()} />
  return (
    <>
      <ul className={listClass}>
        {health.data.map((finding) => {
          const { state, code } = finding
          const { subject, detail, advice } = textOf(finding)
          const isOff = code === 'shell_off'
          return (
            <li key={`${finding.subject} ${finding.detail}`} className="py-2.5">
              <p className="flex flex-wrap items-baseline gap-x-2">
                <span
                  className={`text-note font-medium ${isOff ? 'text-muted' : STATE_CLASSES[state]}`}
                >
                  {isOff ? t('admin.server.off') : t(`admin.server.state.${state}`)}
                </span>
                <span className="font-medium">{subject}</span>
              </p>
              <p className="text-note wrap-anywhere text-muted">{withCode(detail)}</p>
              {advice !== null && (
                <p className="text-note wrap-anywhere text-soft">{withCode(advice)}</p>
              )}
            </li>
          )
        })}
      </ul>
      <div>
        <Button size="small" disabled={health.isFetching} onClick={() => void health.refetch()}>
          {t('admin.server.again')}
        </Button>
      </div>
    </>
  )
}

/** The text with what is between backticks, such as commands, as code. */
const withCode = (text: string): ReactNode =>
  text.split(/`([^`]+)`/).map((part, place) =>
    place % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their places
      <code key={place} className="font-mono text-code text-soft">
        {part}
      </code>
    ),
  )
