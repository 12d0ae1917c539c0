// Form fields for the access to an MCP server: who may use it, and how users sign in to it.

import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { TextField } from '../../ui/controls/field.tsx'

/** The values as entered. */
export interface McpAccess {
  users: string
  clientId: string
  clientSecret: string
  scope: string
}

/** The stored values of a server; the secret is never shown. */
export const storedAccess = (server: AdminMcpServer | null): McpAccess => ({
  users: server?.users?.join(', ') ?? '',
  clientId: server?.oauth?.client_id ?? '',
  clientSecret: '',
  scope: server?.oauth?.scope ?? '',
})

/** Converts the entered values to settings; null clears a setting. */
export function accessSettings({ users, clientId, clientSecret, scope }: McpAccess) {
  const names = users.split(/[,，、]/).flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const oauth = {
    ...(clientId.trim() === '' ? {} : { client_id: clientId.trim() }),
    ...(clientSecret === '' ? {} : { client_secret: clientSecret }),
    ...(scope.trim() === '' ? {} : { scope: scope.trim() }),
  }
  return {
    users: names.length === 0 ? null : names,
    oauth: Object.keys(oauth).length === 0 ? null : oauth,
  }
}

/** `server` is null for a new one; `onChange` receives the whole changed `value`. */
export function McpAccessFields({
  server,
  value,
  onChange,
}: {
  server: AdminMcpServer | null
  value: McpAccess
  onChange: (value: McpAccess) => void
}) {
  const { t } = useTranslation()
  const field = (name: keyof McpAccess) => ({
    autoComplete: 'off',
    maxLength: 2_000,
    value: value[name],
    onChange: ({ target }: { target: { value: string } }) =>
      onChange({ ...value, [name]: target.value }),
  })
  const groups = server?.groups ?? []
  return (
    <>
      <TextField
        label={t('mcpAccess.users')}
        hint={t('mcpAccess.usersHint')}
        {...field('users')}
        maxLength={100_000}
      />
      {groups.length > 0 && (
        <p className="text-note text-muted">
          {t('mcpAccess.groups', { names: groups.join(', ') })}
        </p>
      )}
      <fieldset>
        <legend className="text-sm font-medium text-soft">{t('mcpAccess.client')}</legend>
        <p className="mt-0.5 text-note text-muted">{t('mcpAccess.clientHint')}</p>
        <div className="mt-3 grid gap-4">
          <TextField label={t('mcpAccess.clientId')} {...field('clientId')} />
          <TextField
            label={t('mcpAccess.clientSecret')}
            type="password"
            {...(server?.oauth?.has_secret === true ? { hint: t('mcpAccess.secretStored') } : {})}
            {...field('clientSecret')}
          />
          <TextField label={t('mcpAccess.scope')} {...field('scope')} />
        </div>
      </fieldset>
    </>
  )
}
