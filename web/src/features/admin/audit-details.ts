// Describes audit entries in the page's language: names instead of ids, limits with their units.
import type { TFunction } from 'i18next'
import { QuotaKindName } from '../../../../server/protocol/accounts/quota.ts'
import type { AuditEntry } from '../../../../server/protocol/admin/audit.ts'
import { ApprovalMode } from '../../../../server/protocol/conversations/conversation.ts'
import { useAdminModels } from '../../lib/api/catalog.ts'
import { fileSize, fullTime } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { toolTitle } from '../../lib/tool-title.ts'

type Value = AuditEntry['details'][string]
/** What the description of an entry needs. */
interface Names {
  t: TFunction
  language: string
  modelName: (id: string) => string
}

/** The prefix of limits that all members of a group share. */
const SHARED = 'shared_'

/** Maps a detail that contains several names in one text. */
const each = (value: Value, nameOf: (one: string) => string): string =>
  String(value).split(' ').map(nameOf).join(', ')

const modeName = (mode: string, t: TFunction): string => {
  const known = ApprovalMode.options.find((option) => option === mode)
  return known === undefined ? mode : t(`approval.mode.${known}`)
}

function signInMethodName(value: string, t: TFunction): string {
  switch (value) {
    case 'single sign-on':
      return t('admin.detail.ways.sso')
    case 'command line':
      return t('admin.detail.ways.line')
    case 'passkey':
      return t('admin.detail.ways.passkey')
    case 'second factor':
      return t('admin.detail.ways.factor')
    default:
      return value
  }
}

const chosen = (value: Value, t: TFunction): string => {
  switch (value) {
    case 'open':
    case 'invite':
    case 'closed':
    case 'on':
    case 'off':
      return t(`admin.server.${value}`)
    default:
      return String(value)
  }
}

/** Describes a change of a limit: `none → 5242880` becomes "not set → 5.0 MB". */
function limitChange(name: string, value: Value, { t, language }: Names): string[] {
  const isShared = name.startsWith(SHARED)
  const kind = QuotaKindName.options.find((one) => one === name.slice(isShared ? SHARED.length : 0))
  if (kind === undefined) return []
  const amount = (text: string): string => {
    const number = Number(text)
    if (text === 'none' || Number.isNaN(number)) return t('quota.noLimit')
    return kind === 'storage' ? fileSize(number, language) : number.toLocaleString(language)
  }
  const label = isShared
    ? `${t('quota.shared')}, ${t(`quota.kind.${kind}`)}`
    : t(`quota.kind.${kind}`)
  const changed = String(value).split(' → ').map(amount).join(' → ')
  return [t('admin.detail.pair', { name: label, value: changed })]
}

/** A detail in words; undefined for one without meaning to people, such as an id. */
function inWords(
  name: string,
  value: Exclude<Value, null>,
  { t, language, modelName }: Names,
): { label: string; text: string } | undefined {
  const text = String(value)
  const tool = (one: string): string => toolTitle(one, t)
  switch (name) {
    case 'account':
    case 'group':
    case 'email':
      return { label: t(`admin.detail.${name}`), text }
    case 'name':
      return { label: t('admin.groups.name'), text }
    case 'note':
      return { label: t('admin.withoutNote'), text }
    case 'users':
      return { label: t('mcpAccess.users'), text: each(value, String) }
    case 'tool':
      return { label: t('admin.detail.tool'), text: tool(text) }
    case 'tools':
      return { label: t('admin.groups.tools'), text: each(value, tool) }
    case 'models':
      return { label: t('admin.groups.models'), text: each(value, modelName) }
    case 'mcp_servers':
      return { label: t('admin.groups.mcp_servers'), text: each(value, String) }
    case 'approval_modes':
      return {
        label: t('admin.groups.approval_modes'),
        text: each(value, (mode) => modeName(mode, t)),
      }
    case 'hidden_models':
    case 'model_order':
      return {
        label: t(`admin.detail.${name}`),
        text: text === '' ? t('admin.detail.nothing') : each(value, modelName),
      }
    case 'default_model':
      return { label: t('admin.server.defaultModel'), text: modelName(text) }
    case 'default_approval':
      return { label: t('admin.server.defaultApproval'), text: modeName(text, t) }
    case 'registration':
    case 'sharing':
      return { label: t(`admin.server.${name}`), text: chosen(value, t) }
    case 'role':
      return {
        label: t('admin.role'),
        text: t(value === 'admin' ? 'admin.roleAdmin' : 'admin.roleUser'),
      }
    case 'is_active':
    case 'enabled':
      return {
        label: t('admin.detail.state'),
        text: t(value === true ? 'admin.detail.enabled' : 'admin.disabled'),
      }
    case 'decision':
      return {
        label: t('admin.detail.decision'),
        text: t(value === 'approve' ? 'admin.detail.approve' : 'admin.detail.reject'),
      }
    case 'by':
    case 'kind':
      return { label: t('admin.detail.by'), text: signInMethodName(text, t) }
    case 'scopes':
      return { label: t('admin.detail.scopes'), text: each(value, (scope) => scopeName(scope, t)) }
    case 'expires_at':
      return { label: t('admin.detail.expires'), text: fullTime(text, language) }
    case 'data':
      return { label: t('admin.deleteData.label'), text: dataName(text, t) }
    case 'heir':
      return { label: t('admin.heir'), text }
    default:
      return undefined
  }
}

function scopeName(scope: string, t: TFunction): string {
  switch (scope) {
    case 'read':
    case 'api':
    case 'admin':
    case 'v1':
    case 'mcp':
      return t(`apiKeys.scope.${scope}`)
    default:
      return scope
  }
}

function dataName(data: string, t: TFunction): string {
  switch (data) {
    case 'delete':
    case 'keep':
    case 'hand_over':
      return t(`admin.deleteData.${data}`)
    default:
      return data
  }
}

/** Describes what an entry contains besides who, what and when. Leaves out ids and similar details. */
export function useAuditDetails(): (entry: AuditEntry) => string[] {
  const { t, i18n } = useTranslation()
  const models = useAdminModels(true)
  const modelName = (id: string): string =>
    models.data?.find((model) => model.id === id)?.name ?? id
  const names: Names = { t, language: i18n.language, modelName }
  return ({ action, address, details }) => {
    const { id } = details
    const changedModel =
      (action === 'model_changed' || action === 'model_deleted') &&
      typeof id === 'string' &&
      details.name === undefined
        ? [t('admin.detail.pair', { name: t('admin.detail.model'), value: modelName(id) })]
        : []
    const described = Object.entries(details).flatMap(([name, value]) => {
      if (value === null) return []
      const words = inWords(name, value, names)
      return words === undefined
        ? limitChange(name, value, names)
        : [t('admin.detail.pair', { name: words.label, value: words.text })]
    })
    const from =
      address === null
        ? []
        : [t('admin.detail.pair', { name: t('admin.detail.address'), value: address })]
    return [...changedModel, ...described, ...from]
  }
}
