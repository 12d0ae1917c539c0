// What the tools of a new conversation cost with each request, and whether those of MCP servers are sent or found.
import { useTools } from '../../lib/api/catalog.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'

/** Estimated figures, as the list of tools has them. */
export function ToolCost() {
  const { t, i18n } = useTranslation()
  const tools = useTools()
  if (tools.data === undefined) return null
  const { mcp, ...all } = tools.data.sent
  const figures = (of: { tools: number; tokens: number }) => ({
    tools: of.tools.toLocaleString(i18n.language),
    tokens: of.tokens.toLocaleString(i18n.language),
  })
  return (
    <div className="mb-4 space-y-1 text-note text-muted">
      <p>{t('agent.toolsSent', figures(all))}</p>
      {mcp.tools > 0 && (
        <p>
          {t(mcp.on_demand ? 'agent.mcpToolsFound' : 'agent.mcpToolsSent', {
            ...figures(mcp),
            maxTools: mcp.max_tools.toLocaleString(i18n.language),
            maxTokens: mcp.max_tokens.toLocaleString(i18n.language),
          })}
        </p>
      )}
    </div>
  )
}
