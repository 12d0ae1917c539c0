// The MCP servers: their state, tools and sign-in. Administrators can add and change them.
import { useQueryClient } from '@tanstack/react-query'
import { LogIn, Plug, Plus } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import type { McpServer } from '../../../../server/protocol/models/mcp.ts'
import { beginSignIn, finishSignIn, signOut, useMcpServers } from '../../lib/api/mcp.ts'
import { useAdminMcpServers } from '../../lib/api/server.ts'
import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { joinSentences } from '../../lib/i18n/sentences.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Button } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'
import { Facts } from '../../ui/facts.tsx'
import { errorText, reportError } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { McpAppDomains } from './mcp-app-domains.tsx'
import { McpChangedTools } from './mcp-changed-tools.tsx'
import { McpControls } from './mcp-controls.tsx'
import { McpDiagnostics } from './mcp-diagnostics.tsx'
import { McpDialog } from './mcp-dialog.tsx'
import { McpTools } from './mcp-tools.tsx'
import { Section } from './section.tsx'
import { ToolCost } from './tool-cost.tsx'

const STATE_TONES = {
  connected: 'bg-ok',
  connecting: 'bg-warn',
  waiting: 'bg-bad',
  off: 'bg-line-strong',
} as const

const useRefresh = () => {
  const client = useQueryClient()
  return useCallback(
    () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['mcp'] }),
        client.invalidateQueries({ queryKey: ['admin-mcp'] }),
      ]),
    [client],
  )
}

/** A tab of the settings. `admin`: shows all servers with their settings, otherwise those that the user may use. */
export function McpSection({ admin }: { admin: boolean }) {
  const { t, i18n } = useTranslation()
  const all = useAdminMcpServers(admin)
  const own = useMcpServers(!admin)
  const servers = admin ? all : own
  const finishing = useFinishedSignIn()
  useFreshTools(servers.data)
  const [isAdding, setIsAdding] = useState(false)
  return (
    <Section
      title={t('mcp.title')}
      text={admin ? joinSentences(i18n.language, t('mcp.text'), t('mcp.programs')) : t('mcp.text')}
      action={
        admin && (
          <Button size="small" icon={Plus} onClick={() => setIsAdding(true)}>
            {t('mcp.add')}
          </Button>
        )
      }
    >
      {(servers.isPending || finishing) && <Loading />}
      {servers.isError && (
        <Failed message={errorText(servers.error)} onRetry={() => void servers.refetch()} />
      )}
      {servers.data?.length === 0 && <Empty icon={Plug} title={t('mcp.none')} />}
      {servers.data !== undefined && servers.data.length > 0 && <ToolCost />}
      <ul ref={moveFocusOnRemoval} className="-my-2 divide-y divide-line empty:hidden">
        {admin
          ? all.data?.map((server) => (
              <Server
                key={server.name}
                server={server}
                controls={<McpControls server={server} />}
              />
            ))
          : own.data?.map((server) => <Server key={server.name} server={server} />)}
      </ul>
      {isAdding && <McpDialog server={null} onClose={() => setIsAdding(false)} />}
    </Section>
  )
}

function Server({
  server,
  controls,
}: {
  server: McpServer | AdminMcpServer
  controls?: ReactNode
}) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const needsSignIn = server.auth === 'needed'
  const isOff = server.state === 'off'
  return (
    <li className="py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="flex min-w-0 flex-1 items-center gap-2 font-medium">
          <span
            aria-hidden
            className={classNames(
              'size-2 shrink-0 rounded-full',
              needsSignIn && !isOff ? 'bg-warn' : STATE_TONES[server.state],
            )}
          />
          {server.name}
          <span className="text-note font-normal text-muted">
            <Facts
              of={[
                t(needsSignIn && !isOff ? 'mcp.signInNeeded' : `mcp.status.${server.state}`),
                server.transport,
                ...('source' in server && server.source === 'config' ? ['config.yml'] : []),
              ]}
            />
          </span>
        </p>
        {server.auth !== 'none' && !isOff && <SignInButton server={server} />}
      </div>
      {server.error !== null && !needsSignIn && !isOff && (
        <p className="mt-1 text-sm text-bad first-letter:uppercase">
          {refusalText({ ...server, message: server.error })}
        </p>
      )}
      {'tool_tokens' in server && server.tools.length > 0 && <McpTools server={server} />}
      {!('tool_tokens' in server) && server.tools.length > 0 && (
        <ul className="mt-1.5 flex flex-wrap gap-1.5">
          {server.tools.map(({ name, description }) => (
            <li
              key={name}
              title={description}
              className="rounded-full bg-sunken px-2 py-0.5 font-mono text-xs text-soft"
            >
              {name.replace(`mcp__${server.name}__`, '')}
            </li>
          ))}
        </ul>
      )}
      {'problems' in server && !isOff && (
        <>
          <McpChangedTools server={server} />
          <McpDiagnostics server={server} />
        </>
      )}
      <McpAppDomains server={server.name} />
      {controls}
    </li>
  )
}

/** Reads the list of all tools again when servers offer more or fewer than before. */
function useFreshTools(servers: readonly McpServer[] | readonly AdminMcpServer[] = []): void {
  const client = useQueryClient()
  const offered = servers.reduce((sum, { tools }) => sum + tools.length, 0)
  useEffect(() => {
    if (offered > 0) void client.invalidateQueries({ queryKey: ['tools'] })
  }, [client, offered])
}

function SignInButton({ server: { name, auth } }: { server: Pick<McpServer, 'name' | 'auth'> }) {
  const { t } = useTranslation()
  const refresh = useRefresh()
  const [busy, setBusy] = useState(false)
  const act = async (action: () => Promise<unknown>): Promise<void> => {
    setBusy(true)
    try {
      await action()
    } catch (error) {
      reportError(error)
    } finally {
      setBusy(false)
    }
  }
  if (auth === 'connected')
    return (
      <Button
        size="small"
        disabled={busy}
        onClick={() => void act(() => signOut(name).then(refresh))}
      >
        {t('mcp.signOut')}
      </Button>
    )
  return (
    <Button
      size="small"
      tone="primary"
      icon={LogIn}
      disabled={busy}
      onClick={() => void act(() => beginSignIn(name).then(({ url }) => location.assign(url)))}
    >
      {t('mcp.signIn')}
    </Button>
  )
}

/** Completes a sign-in after the authorization server has redirected the user back to this page. */
function useFinishedSignIn(): boolean {
  const refresh = useRefresh()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    const query = new URLSearchParams(location.search)
    const state = query.get('state')
    if (state === null) return
    // The code works only once, so it must be neither in the history nor in a reload.
    history.replaceState(history.state, '', location.pathname)
    const given = (key: 'code' | 'iss' | 'error') => {
      const value = query.get(key)
      return value === null ? {} : { [key]: value }
    }
    setBusy(true)
    finishSignIn({ state, ...given('code'), ...given('iss'), ...given('error') })
      .then(refresh)
      .catch(reportError)
      .finally(() => setBusy(false))
  }, [refresh])
  return busy
}
