// The audit log: who did what, filtered by kind, account and day, with a download.
import { Download, ScrollText } from 'lucide-react'
import { useDeferredValue, useId, useState } from 'react'
import type { AuditAction, AuditEntry } from '../../../../server/protocol/admin/audit.ts'
import {
  type AuditFilter,
  auditKey,
  useAdminUsers,
  useAuditDownload,
  useAuditLog,
} from '../../lib/api/admin.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/field.tsx'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { Facts } from '../../ui/facts.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { useAuditDetails } from './audit-details.ts'

const ACTIONS: Record<AuditAction, true> = {
  sign_in: true,
  sign_in_failed: true,
  sign_out: true,
  register: true,
  identity_linked: true,
  second_factor_added: true,
  second_factor_removed: true,
  second_factor_reset: true,
  recovery_codes_created: true,
  keys_rotated: true,
  session_reused: true,
  sessions_ended: true,
  password_reset: true,
  reset_link_created: true,
  key_created: true,
  key_deleted: true,
  account_changed: true,
  invitation_created: true,
  invitation_deleted: true,
  account_deleted: true,
  run_stopped: true,
  settings_changed: true,
  group_created: true,
  group_changed: true,
  group_deleted: true,
  group_member_added: true,
  group_member_removed: true,
  model_added: true,
  model_changed: true,
  model_deleted: true,
  mcp_server_added: true,
  mcp_server_changed: true,
  mcp_server_deleted: true,
  webhook_created: true,
  webhook_changed: true,
  webhook_secret_replaced: true,
  webhook_deleted: true,
  approval_decided: true,
  approvers_changed: true,
  member_added: true,
  member_changed: true,
  member_removed: true,
  approval_link_created: true,
  schedule_created: true,
  schedule_changed: true,
  schedule_deleted: true,
  hook_token_replaced: true,
  sender_allowed: true,
  sender_blocked: true,
  grant_created: true,
  grant_used: true,
  grant_removed: true,
  app_network_allowed: true,
  app_network_ended: true,
  mcp_app_domains_allowed: true,
  mcp_app_domains_ended: true,
  mcp_app_called: true,
  share_created: true,
  share_deleted: true,
  exported: true,
  audit_exported: true,
  backup_created: true,
  backup_restored: true,
  folders_adopted: true,
  database_moved: true,
}
const isAction = (name: string): name is AuditAction => Object.hasOwn(ACTIONS, name)

/** As ISO 8601; '' for a time that is none, such as one without a day or in a year of five digits. */
const momentOf = (time: string): string => {
  const moment = new Date(time)
  return Number.isNaN(moment.getTime()) ? '' : moment.toISOString()
}
/** The moments at which a day of the reader's time zone begins and ends; '' for no day. */
const startOf = (day: string): string => momentOf(`${day}T00:00`)
const endOf = (day: string): string => momentOf(`${day}T23:59:59.999`)

/** A tab of the administration. Older entries load on request. */
export function AuditSection() {
  const { t, i18n } = useTranslation()
  const [action, setAction] = useState('')
  const [accountText, setAccountText] = useState('')
  const accountList = useId()
  const account = useLoggedAccount(accountText)
  const [days, setDays] = useState({ from: '', to: '' })
  const filter: AuditFilter = {
    action,
    user_id: account.id,
    from: startOf(days.from),
    to: endOf(days.to),
  }
  const log = useAuditLog(filter)
  const download = useAuditDownload()
  const detailsOf = useAuditDetails()
  const items = log.data?.pages.flatMap((page) => page.items) ?? []
  const moment = (time: string): string =>
    new Date(time).toLocaleString(i18n.language, { dateStyle: 'medium', timeStyle: 'medium' })
  return (
    <section className="flex flex-col gap-4">
      <div className="grid grid-cols-2 items-start gap-3 *:min-w-0 lg:grid-cols-4">
        <div className="max-sm:col-span-2">
          <SelectField
            label={t('admin.kind')}
            value={action}
            options={[
              { value: '', label: t('admin.allKinds') },
              ...Object.keys(ACTIONS)
                .filter(isAction)
                .map((value) => ({ value, label: t(`admin.action.${value}`) })),
            ]}
            onChange={(event) => setAction(event.target.value)}
          />
        </div>
        <div className="max-sm:col-span-2">
          <TextField
            label={t('admin.log.account')}
            type="search"
            list={accountList}
            placeholder={t('admin.allAccounts')}
            hint={account.isUnknown ? t('admin.log.unknown') : undefined}
            value={accountText}
            onChange={(event) => setAccountText(event.target.value)}
          />
          <datalist id={accountList}>
            {account.names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </div>
        {(['from', 'to'] as const).map((end) => (
          <TextField
            key={end}
            label={t(`admin.log.${end}`)}
            type="date"
            min={end === 'to' ? days.from : undefined}
            // Browsers then accept only years of four digits.
            max="9999-12-31"
            value={days[end]}
            onChange={(event) => setDays({ ...days, [end]: event.target.value })}
          />
        ))}
      </div>
      <div className="flex justify-end">
        <Button
          icon={Download}
          disabled={download.isPending}
          onClick={() => download.mutate(filter)}
        >
          {t('admin.downloadLog')}
        </Button>
      </div>
      {log.isPending && <Loading />}
      {log.isError && !log.isFetchNextPageError && (
        <Failed message={errorText(log.error)} onRetry={() => void log.refetch()} />
      )}
      {log.isSuccess && items.length === 0 && (
        <Empty icon={ScrollText} title={t('admin.log.none')} />
      )}
      <ul className="divide-y divide-line rounded-2xl border border-line bg-surface px-4 empty:hidden">
        {items.map((entry) => (
          <li key={entry.id} className="py-2.5">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="font-medium">{t(`admin.action.${entry.action}`)}</span>
              {entry.user_id === null || entry.username === null ? (
                <span className="wrap-anywhere">{entry.username ?? t('admin.nobody')}</span>
              ) : (
                <button
                  type="button"
                  title={t('admin.log.only', { name: entry.username })}
                  className="touch-target rounded wrap-anywhere hover:underline hover:underline-offset-3"
                  onClick={() => {
                    account.remember(entry)
                    setAccountText(entry.username ?? '')
                  }}
                >
                  {entry.username}
                </button>
              )}
              <time className="text-note text-muted" dateTime={entry.at}>
                {moment(entry.at)}
              </time>
            </p>
            <p className="text-note wrap-anywhere text-muted">
              <Facts of={detailsOf(entry)} />
            </p>
            <details className="text-xs text-muted">
              <summary className="w-fit cursor-pointer rounded py-0.5 hover:text-ink pointer-coarse:leading-10">
                {t('admin.detail.all')}
              </summary>
              <pre className="mt-1 overflow-x-auto rounded-lg bg-hover p-2.5 font-mono whitespace-pre-wrap wrap-anywhere">
                {JSON.stringify(entry, null, 2)}
              </pre>
            </details>
          </li>
        ))}
      </ul>
      <ShowMore list={log} queryKey={auditKey(filter)} />
    </section>
  )
}

/**
 * The account with this whole name, or of an entry with it, which may no longer exist; no id for every account. `names`
 * suggests accounts while a name is typed.
 */
function useLoggedAccount(text: string) {
  const [remembered, remember] = useState<Pick<AuditEntry, 'user_id' | 'username'>>()
  const typed = text.trim()
  const found = useAdminUsers(useDeferredValue(typed))
  const users = found.data?.pages.flatMap((page) => page.items) ?? []
  const named = users.find(({ username }) => username.toLowerCase() === typed.toLowerCase())
  const known = typed === remembered?.username ? remembered.user_id : named?.id
  return {
    id: typed === '' ? '' : (known ?? ''),
    names: users.map(({ username }) => username),
    isUnknown: typed !== '' && known === undefined && found.isSuccess && users.length === 0,
    remember,
  }
}
