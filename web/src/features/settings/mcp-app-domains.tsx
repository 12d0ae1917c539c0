// What the user has allowed the apps of one MCP server to reach, and the end of it.
import { X } from 'lucide-react'
import { useAllowedDomains, useEndDomains } from '../../lib/api/mcp-apps.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'
import { moveFocusOnRemoval } from '../../ui/controls/move-focus-on-removal.ts'

/** Renders nothing without such domains. */
export function McpAppDomains({ server }: { server: string }) {
  const { t } = useTranslation()
  const allowed = useAllowedDomains(server)
  const end = useEndDomains(server)
  if (allowed.data === undefined || allowed.data.length === 0) return null
  return (
    <div className="mt-2 text-note">
      <p className="text-muted">{t('mcp.appDomains')}</p>
      <ul ref={moveFocusOnRemoval}>
        {allowed.data.map(({ domains }) => {
          const names = domains.join(', ')
          return (
            <li key={names} className="flex items-center gap-2">
              <span className="min-w-0 [overflow-wrap:anywhere]">{names}</span>
              <IconButton
                icon={X}
                size="small"
                label={t('mcp.endAppDomains', { domains: names })}
                disabled={end.isPending}
                onClick={() => end.mutate(domains)}
              />
            </li>
          )
        })}
      </ul>
    </div>
  )
}
