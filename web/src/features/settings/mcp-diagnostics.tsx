// What administrators read about an MCP server that is odd or does not start.
import type { AdminMcpServer } from '../../../../server/protocol/admin/mcp-server.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'

/** The elements that were left out or mended, and the end of what a program printed. */
export function McpDiagnostics({
  server: { problems, output },
}: {
  server: Pick<AdminMcpServer, 'problems' | 'output'>
}) {
  const { t } = useTranslation()
  return (
    <>
      {problems.length > 0 && (
        <ul className="mt-1.5 text-sm text-soft">
          {problems.map(({ kind, name, problem, fields = '' }) => (
            <li key={`${kind} ${name} ${problem}`} className="wrap-anywhere">
              {t(`mcp.problem.${problem}`, { name, fields })}
            </li>
          ))}
        </ul>
      )}
      {output !== null && (
        <details className="mt-1.5 text-sm">
          <summary className="cursor-pointer text-soft">{t('mcp.output')}</summary>
          <pre className="mt-1 max-h-48 overflow-auto rounded-lg bg-sunken px-3 py-2 text-xs whitespace-pre-wrap wrap-anywhere">
            {output}
          </pre>
        </details>
      )}
    </>
  )
}
