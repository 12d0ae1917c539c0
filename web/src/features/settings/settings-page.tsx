// The settings page: appearance, agent, models, MCP servers, channels, permissions, shares, data, account. Each section has its own URL.
import { Link } from 'wouter'
import type { User } from '../../../../server/protocol/accounts/user.ts'
import { useMedia } from '../../lib/browser/use-media.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths, SETTINGS_TABS } from '../../lib/paths.ts'
import { classNames } from '../../ui/class-names.ts'
import { BackToSections, SectionList } from '../../ui/section-list.tsx'
import { AccountSection } from './account-section.tsx'
import { AgentSection } from './agent-section.tsx'
import { AppearanceSection } from './appearance-section.tsx'
import { AskSection } from './ask-section.tsx'
import { ChannelsSection } from './channels-section.tsx'
import { DataSection } from './data-section.tsx'
import { GrantsSection } from './grants-section.tsx'
import { McpSection } from './mcp-section.tsx'
import { ModelsSection } from './models-section.tsx'
import { PageTitle } from './section.tsx'
import { SharesSection } from './shares-section.tsx'
import { WebhooksSection } from './webhooks-section.tsx'

/** The page at `/settings`. `tab` is the part of the URL that names the section; appearance by default, and on a narrow screen the list of all sections. */
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
  const isWide = useMedia('(min-width: 48rem)')
  const title = t('settings.title')
  const sections = SETTINGS_TABS.map((section) => ({
    section,
    href: paths.settingsTab(section),
    title: t(`settings.tab.${section}`),
  }))
  const admin = multi && user?.role === 'admin'
  if (!isWide && tab === undefined)
    return (
      <div className="mx-auto flex w-full max-w-4xl flex-col gap-6 px-5 py-8">
        <h1 className="font-display text-3xl tracking-tight">{title}</h1>
        <SectionList
          label={title}
          sections={
            admin ? [...sections, { href: paths.admin(), title: t('admin.title') }] : sections
          }
        />
      </div>
    )
  return (
    <div className="mx-auto flex w-full max-w-4xl flex-col gap-6 px-5 py-8">
      {!isWide && <BackToSections href={paths.settings}>{title}</BackToSections>}
      <h1 className="font-display text-3xl tracking-tight">
        {isWide ? title : t(`settings.tab.${current}`)}
      </h1>
      <div className="flex gap-8">
        {isWide && (
          <nav aria-label={title} className="flex w-44 shrink-0 flex-col gap-1 p-0.5">
            {sections.map(({ section, href, title: name }) => (
              <Link
                key={section}
                href={href}
                aria-current={section === current ? 'page' : undefined}
                className={classNames(
                  'touch-target flex items-center rounded-lg px-3 py-1.5 text-sm whitespace-nowrap',
                  section === current ? 'bg-hover font-medium' : 'text-soft hover:bg-hover/60',
                )}
              >
                {name}
              </Link>
            ))}
            {admin && (
              <Link
                href={paths.admin('users')}
                className="touch-target flex items-center rounded-lg px-3 py-1.5 text-sm whitespace-nowrap text-soft hover:bg-hover/60"
              >
                {t('admin.title')}
              </Link>
            )}
          </nav>
        )}
        <div className="min-w-0 flex-1">
          <PageTitle value={isWide ? null : t(`settings.tab.${current}`)}>
            {current === 'appearance' && <AppearanceSection />}
            {current === 'agent' && <AgentSection />}
            {current === 'models' && <ModelsSection admin={user?.role === 'admin'} />}
            {current === 'mcp' && <McpSection admin={user?.role === 'admin'} />}
            {current === 'channels' && (
              <>
                <ChannelsSection user={user} multi={multi} />
                <AskSection />
                <WebhooksSection />
              </>
            )}
            {current === 'permissions' && <GrantsSection />}
            {current === 'shares' && <SharesSection />}
            {current === 'data' && <DataSection />}
            {current === 'account' && <AccountSection user={user} multi={multi} />}
          </PageTitle>
        </div>
      </div>
    </div>
  )
}
