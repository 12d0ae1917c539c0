// The configured MCP servers, how they stand and what they offer.
import { Plug } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useMcpServers } from '../../lib/api/mcp.ts'
import { classNames } from '../../ui/class-names.ts'
import { Empty } from '../../ui/feedback.tsx'
import { Section } from './section.tsx'

export function McpSection() {
  const { t } = useTranslation()
  const { data: servers = [] } = useMcpServers()
  return (
    <Section title={t('mcp.title')} text={t('mcp.text')}>
      {servers.length === 0 && <Empty icon={Plug} title={t('mcp.none')} text={t('mcp.noneText')} />}
      <ul className="-my-2 divide-y divide-line">
        {servers.map((server) => {
          const connected = server.status === 'connected'
          return (
            <li key={server.name} className="py-3">
              <p className="flex items-center gap-2 font-medium">
                <span
                  aria-hidden
                  className={classNames('size-2 rounded-full', connected ? 'bg-ok' : 'bg-bad')}
                />
                {server.name}
                <span className="text-[13px] font-normal text-muted">
                  {t(`mcp.status.${server.status}`)}
                </span>
              </p>
              {server.error != null && <p className="mt-1 text-sm text-bad">{server.error}</p>}
              {server.tools.length > 0 && (
                <p className="mt-1 font-mono text-[12.5px] text-muted">
                  {server.tools.map(({ name }) => name).join(' · ')}
                </p>
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
