// The result of testing an MCP server: its tools with their risk levels, or the error.

import { useRefusalText } from '../../lib/http/refusal-text.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { bringIntoView } from '../../ui/states/bring-into-view.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Loading } from '../../ui/states/feedback.tsx'
import type { useTestMcpServer } from './api/mcp-servers.ts'

/** `test` is the mutation that tests the server; shows its progress too. */
export function McpTestResult({
  name,
  test: { data: outcome, error: fault, isPending },
}: {
  name: string
  test: Pick<ReturnType<typeof useTestMcpServer>, 'data' | 'error' | 'isPending'>
}) {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  if (isPending) return <Loading />
  const failure =
    fault !== null
      ? errorText(fault)
      : outcome?.state === 'failed' && outcome.error !== null
        ? t('mcp.testFailed', { reason: refusalText({ ...outcome, message: outcome.error }) })
        : null
  if (failure !== null)
    return (
      <p
        ref={bringIntoView}
        role="alert"
        className="mt-2 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad"
      >
        {failure}
      </p>
    )
  if (outcome === undefined) return null
  return (
    <div ref={bringIntoView} role="status" className="mt-2 rounded-lg bg-sunken px-3 py-2 text-sm">
      <p>
        {outcome.state === 'sign_in_needed'
          ? t('mcp.testSignIn')
          : `${t('mcp.status.connected')} · ${t('mcp.toolCount', { count: outcome.tools.length })}`}
      </p>
      {outcome.tools.length > 0 && (
        <ul className="mt-1.5">
          {outcome.tools.map((tool) => (
            <li key={tool.name} title={tool.description} className="flex justify-between gap-3">
              <span className="font-mono text-xs wrap-anywhere">
                {tool.name.replace(`mcp__${name}__`, '')}
              </span>
              <span className="shrink-0 text-xs text-muted">{t(`tools.risk.${tool.risk}`)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
