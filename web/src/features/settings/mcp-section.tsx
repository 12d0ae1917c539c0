// The configured MCP servers, their state and their tools.
import { Plug } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useMcpServers } from '../../lib/api/mcp.ts'
import { useRefusalText } from '../../lib/refusal-text.ts'
import { classNames } from '../../ui/class-names.ts'
import { errorText } from '../../ui/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/feedback.tsx'
import { Section } from './section.tsx'

const STATUS_TONES = { connected: 'bg-ok', connecting: 'bg-warn', waiting: 'bg-bad' } as const

export function McpSection() {
  const { t } = useTranslation()
  const refusalText = useRefusalText()
  const servers = useMcpServers()
  return (
    <Section title={t('mcp.title')} text={t('mcp.text')}>
      {servers.isPending && <Loading />}
      {servers.isError && (
        <Failed message={errorText(servers.error)} onRetry={() => void servers.refetch()} />
      )}
      {servers.data?.length === 0 && (
        <Empty icon={Plug} title={t('mcp.none')} text={t('mcp.noneText')} />
      )}
      <ul className="-my-2 divide-y divide-line">
        {servers.data?.map((server) => (
          <li key={server.name} className="py-3">
            <p className="flex items-center gap-2 font-medium">
              <span
                aria-hidden
                className={classNames('size-2 shrink-0 rounded-full', STATUS_TONES[server.status])}
              />
              {server.name}
              <span className="text-[13px] font-normal text-muted">
                {t(`mcp.status.${server.status}`)} · {server.transport}
              </span>
            </p>
            {server.error !== null && (
              <p className="mt-1 text-sm text-bad">
                {refusalText({ ...server, message: server.error })}
              </p>
            )}
            {server.tools.length > 0 && (
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
          </li>
        ))}
      </ul>
    </Section>
  )
}
