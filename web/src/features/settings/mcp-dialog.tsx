// The form in which an administrator adds an MCP server by its URL, or changes one, and tests it first.
import { type FormEvent, useId, useState } from 'react'
import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { UrlField } from '../../ui/controls/address-field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { TextArea, TextField } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { RemainingError } from '../../ui/overlays/form-dialog.tsx'
import { FieldFaults } from '../../ui/states/field-faults.tsx'
import { useAddMcpServer, useChangeMcpServer, useTestMcpServer } from './api/mcp-servers.ts'
import { accessSettings, McpAccessFields, storedAccess } from './mcp-access-fields.tsx'
import { McpTestResult } from './mcp-test-result.tsx'

/** `server` is null for a new one. */
export function McpDialog({
  server,
  onClose,
}: {
  server: AdminMcpServer | null
  onClose: () => void
}) {
  const { t } = useTranslation()
  const formId = useId()
  const form = useMcpForm(server, onClose)
  const { name, url, test, refused } = form
  const isFilled = name.trim() !== '' && url.trim() !== ''
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={server === null ? t('mcp.add') : t('mcp.edit', { name })}
      footer={
        <>
          <Button className="me-auto" disabled={test.isPending || !isFilled} onClick={form.tryIt}>
            {t('mcp.test')}
          </Button>
          <Button tone="quiet" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button tone="primary" type="submit" form={formId} disabled={form.isBusy || !isFilled}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <FieldFaults error={refused}>
        <form id={formId} onSubmit={form.submit} className="grid gap-4">
          <McpFields server={server} form={form} />
          <RemainingError error={refused} />
        </form>
      </FieldFaults>
      <McpTestResult name={name.trim()} test={test} />
    </Dialog>
  )
}

/** The entered values and the actions of the form. */
function useMcpForm(server: AdminMcpServer | null, onClose: () => void) {
  const add = useAddMcpServer()
  const change = useChangeMcpServer(true)
  const test = useTestMcpServer()
  const [name, setName] = useState(server?.name ?? '')
  const [url, setUrl] = useState(server?.url ?? '')
  const [token, setToken] = useState('')
  const [lines, setLines] = useState('')
  const [trusts, setTrusts] = useState(server?.trust_hints ?? false)
  const [access, setAccess] = useState(() => storedAccess(server))
  const [isWrong, setIsWrong] = useState(false)
  const isBusy = add.isPending || change.isPending

  /** The entered settings; null if the headers cannot be parsed. */
  const read = () => {
    const headers = headersOf(token, lines)
    setIsWrong(headers === null)
    if (headers === null) return null
    // The stored headers stay unless others are entered.
    const given = Object.keys(headers).length > 0 ? { headers } : {}
    return { url: url.trim(), trust_hints: trusts, ...accessSettings(access), ...given }
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const given = read()
    if (given === null) return
    if (server === null) add.mutate({ name: name.trim(), ...given }, { onSuccess: onClose })
    else change.mutate({ name: server.name, patch: given }, { onSuccess: onClose })
  }
  const tryIt = (): void => {
    const given = read()
    if (given !== null) test.mutate({ name: name.trim(), ...given })
  }
  return {
    name,
    setName,
    url,
    setUrl,
    token,
    setToken,
    lines,
    setLines,
    trusts,
    setTrusts,
    access,
    setAccess,
    isWrong,
    isBusy,
    refused: add.error ?? change.error,
    test,
    submit,
    tryIt,
  }
}

function McpFields({
  server,
  form,
}: {
  server: AdminMcpServer | null
  form: ReturnType<typeof useMcpForm>
}) {
  const { t } = useTranslation()
  const { name, setName, url, setUrl, token, setToken, lines, setLines } = form
  const { trusts, setTrusts, access, setAccess, isWrong } = form
  const stored = server?.headers ?? []
  return (
    <>
      {server === null && (
        <TextField
          label={t('mcp.name')}
          field="name"
          hint={t('mcp.nameHint')}
          title={t('mcp.nameHint')}
          required
          maxLength={40}
          pattern="[A-Za-z0-9](?:[A-Za-z0-9\-]|_(?=[A-Za-z0-9\-]))*"
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      )}
      <UrlField
        label={t('mcp.url')}
        field="url"
        required
        maxLength={4_000}
        value={url}
        onChange={({ target }) => setUrl(target.value)}
      />
      <TextField
        label={t('mcp.token')}
        hint={t('mcp.tokenHint')}
        type="password"
        autoComplete="off"
        maxLength={7_000}
        value={token}
        onChange={({ target }) => setToken(target.value)}
      />
      <TextArea
        label={t('mcp.headers')}
        field="headers"
        hint={t('mcp.headersHint')}
        error={isWrong ? t('mcp.headersHint') : undefined}
        spellCheck={false}
        value={lines}
        onChange={({ target }) => setLines(target.value)}
      />
      {stored.length > 0 && (
        <p className="text-note text-muted">
          {t('mcp.storedHeaders', { names: stored.join(', ') })}
        </p>
      )}
      <McpAccessFields server={server} value={access} onChange={setAccess} />
      <Switch
        label={t('mcp.trust')}
        hint={t('mcp.trustHint')}
        checked={trusts}
        onChange={setTrusts}
      />
    </>
  )
}

/** The entered headers; null if a line is not a header. */
function headersOf(token: string, lines: string): Record<string, string> | null {
  const headers = new Map<string, string>()
  for (const line of lines.split('\n').filter((one) => one.trim() !== '')) {
    const at = line.indexOf(':')
    if (at < 1) return null
    headers.set(line.slice(0, at).trim(), line.slice(at + 1).trim())
  }
  if (token.trim() !== '') headers.set('Authorization', `Bearer ${token.trim()}`)
  return Object.fromEntries(headers)
}
