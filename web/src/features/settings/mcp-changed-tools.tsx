// Tools of an MCP server that describe themselves differently since the operator lowered their risk level.
import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import { visibleText } from '../../../../server/protocol/runs/visible-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { useAcceptMcpTool } from './api/mcp-servers.ts'

/** What each of them says now, for an administrator to accept. */
export function McpChangedTools({
  server: { name, changed_tools: changed },
}: {
  server: Pick<AdminMcpServer, 'name' | 'changed_tools'>
}) {
  const { t } = useTranslation()
  const accept = useAcceptMcpTool(name)
  return changed.map(({ tool, risk, key, description, schema }) => {
    const shortName = tool.replace(`mcp__${name}__`, '')
    return (
      <div key={key} className="mt-2 rounded-lg bg-sunken px-3 py-2 text-sm">
        <p className="wrap-anywhere">
          {t('mcp.changedTool', { tool: shortName, risk: t(`tools.risk.${risk}`) })}
        </p>
        <blockquote className="mt-1 max-h-48 overflow-auto text-soft whitespace-pre-wrap wrap-anywhere">
          {visibleText(description)}
        </blockquote>
        <details className="mt-1">
          <summary className="cursor-pointer text-soft">{t('mcp.changedSchema')}</summary>
          <pre className="mt-1 max-h-48 overflow-auto text-xs whitespace-pre-wrap wrap-anywhere">
            {visibleText(schema)}
          </pre>
        </details>
        <Button
          size="small"
          className="mt-2"
          disabled={accept.isPending}
          aria-label={t('mcp.acceptTool', { tool: shortName })}
          onClick={() => accept.mutate({ tool, key })}
        >
          {t('mcp.accept')}
        </Button>
      </div>
    )
  })
}
