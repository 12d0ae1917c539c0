// The settings page: appearance, agent, models, MCP servers, channels, shares, data, account. Each section has its own URL.
import { useRef } from 'react'
import { Link } from 'wouter'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths, SETTINGS_TABS } from '../../lib/paths.ts'
import { classNames } from '../../ui/class-names.ts'
import { useCurrentInView } from '../../ui/controls/use-current-in-view.ts'
import { AccountSection } from './account-section.tsx'
import { AgentSection } from './agent-section.tsx'
import { AppearanceSection } from './appearance-section.tsx'
import { ChannelsSection } from './channels-section.tsx'
import { DataSection } from './data-section.tsx'
import { McpSection } from './mcp-section.tsx'
import { ModelsSection } from './models-section.tsx'
import { SharesSection } from './shares-section.tsx'
import { WebhooksSection } from './webhooks-section.tsx'

/** The page at `/settings`. `tab` is the part of the URL that names the section; appearance by default. */
export function SettingsPage({
  tab,
  user,
  multi,
}: {
  tab: string | undefined
  user: User | undefined
  /** Whether there are accounts. */
  multi: boolean
}) {
  const { t } = useTranslation()
  const current = SETTINGS_TABS.find((section) => section === tab) ?? 'appearance'
  const tabs = useRef<HTMLElement>(null)
  useCurrentInView(tabs, `[data-tab="${current}"]`)
  return (
    <div className="mx-auto flex w-full max-w-4xl flex-col gap-6 px-5 py-8">
      <h1 className="font-display text-3xl tracking-tight">{t('settings.title')}</h1>
      <div className="flex gap-8 max-md:flex-col max-md:gap-5">
        <nav
          ref={tabs}
          aria-label={t('settings.title')}
          className="flex shrink-0 gap-1 overflow-x-auto p-0.5 md:w-44 md:flex-col"
        >
          {SETTINGS_TABS.map((section) => (
            <Link
              key={section}
              data-tab={section}
              href={paths.settingsTab(section)}
              aria-current={section === current ? 'page' : undefined}
              className={classNames(
                'touch-target flex items-center rounded-lg px-3 py-1.5 text-sm whitespace-nowrap',
                section === current ? 'bg-hover font-medium' : 'text-soft hover:bg-hover/60',
              )}
            >
              {t(`settings.tab.${section}`)}
            </Link>
          ))}
          {multi && user?.role === 'admin' && (
            <Link
              href={paths.admin('users')}
              className="touch-target flex items-center rounded-lg px-3 py-1.5 text-sm whitespace-nowrap text-soft hover:bg-hover/60"
            >
              {t('admin.title')}
            </Link>
          )}
        </nav>
        <div className="min-w-0 flex-1">
          {current === 'appearance' && <AppearanceSection />}
          {current === 'agent' && <AgentSection />}
          {current === 'models' && <ModelsSection admin={user?.role === 'admin'} />}
          {current === 'mcp' && <McpSection admin={user?.role === 'admin'} />}
          {current === 'channels' && (
            <>
              <ChannelsSection />
              <WebhooksSection />
            </>
          )}
          {current === 'shares' && <SharesSection />}
          {current === 'data' && <DataSection />}
          {current === 'account' && <AccountSection user={user} multi={multi} />}
        </div>
      </div>
    </div>
  )
}
