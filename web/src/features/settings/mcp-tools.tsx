// An administrator's switches for the tools of one MCP server, with what each costs.
import { useState } from 'react'
import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Facts } from '../../ui/facts.tsx'
import { useChangeMcpServer } from './api/mcp-servers.ts'

/** Folded; a tool that is off is neither sent to models nor called, for anybody. */
export function McpTools({ server }: { server: AdminMcpServer }) {
  const { t, i18n } = useTranslation()
  const change = useChangeMcpServer()
  /** What was clicked and is not stored yet. */
  const [clicked, setClicked] = useState<Readonly<Record<string, boolean>>>({})
  const isOn = ({ name, enabled }: AdminMcpServer['tools'][number]): boolean =>
    clicked[name] ?? enabled
  const on = server.tools.filter(isOn)
  const tokens = on.reduce((sum, tool) => sum + tool.tokens, 0)
  const set = (name: string, enabled: boolean): void => {
    setClicked((before) => ({ ...before, [name]: enabled }))
    change.mutate(
      { name: server.name, patch: { tools: { [name]: enabled } } },
      {
        onSettled: () =>
          setClicked((before) => {
            const { [name]: _stored, ...rest } = before
            return rest
          }),
      },
    )
  }
  return (
    <details className="mt-1">
      <summary className="cursor-pointer text-note text-muted">
        <Facts
          of={[
            on.length === server.tools.length
              ? t('mcp.toolCount', { count: on.length })
              : t('mcp.toolsOn', { on: on.length, all: server.tools.length }),
            t('mcp.tokens', { number: tokens.toLocaleString(i18n.language) }),
          ]}
        />
      </summary>
      <ul className="mt-1 divide-y divide-line">
        {server.tools.map((tool) => (
          <li key={tool.name} title={tool.description} className="py-2">
            <Switch
              label={tool.name.replace(`mcp__${server.name}__`, '')}
              hint={t('mcp.tokens', { number: tool.tokens.toLocaleString(i18n.language) })}
              checked={isOn(tool)}
              onChange={(enabled) => set(tool.name, enabled)}
            />
          </li>
        ))}
      </ul>
    </details>
  )
}
