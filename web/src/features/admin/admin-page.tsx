// The administration: accounts, groups, invitations, usage, server, audit log. The server refuses it to other users.
import { useLocation } from 'wouter'
import { useMedia } from '../../lib/browser/use-media.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ADMIN_TABS, paths } from '../../lib/paths.ts'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { BackToSections, SectionList } from '../../ui/section-list.tsx'
import { AuditSection } from './audit-section.tsx'
import { GroupsSection } from './groups-section.tsx'
import { InvitationsSection } from './invitations-section.tsx'
import { ServerSection } from './server-section.tsx'
import { UsageSection } from './usage-section.tsx'
import { UsersSection } from './users-section.tsx'

/**
 * `tab` is the part of the URL that names the section; accounts by default, and on a narrow screen the list of
 * all sections. `ownId` is the administrator's own account.
 */
export function AdminPage({ tab, ownId }: { tab: string | undefined; ownId: string | undefined }) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const current = ADMIN_TABS.find((one) => one === tab) ?? 'users'
  const isWide = useMedia('(min-width: 48rem)')
  const title = t('admin.title')
  if (!isWide && tab === undefined)
    return (
      <div className="mx-auto flex w-full max-w-4xl flex-col gap-6 px-5 py-8">
        <h1 className="font-display text-3xl tracking-tight">{title}</h1>
        <SectionList
          label={title}
          sections={ADMIN_TABS.map((value) => ({
            href: paths.admin(value),
            title: t(`admin.tab.${value}`),
          }))}
        />
      </div>
    )
  return (
    <div className="mx-auto flex w-full max-w-4xl flex-col gap-6 px-5 py-8">
      {!isWide && <BackToSections href={paths.admin()}>{title}</BackToSections>}
      <h1 className="font-display text-3xl tracking-tight">
        {isWide ? title : t(`admin.tab.${current}`)}
      </h1>
      {isWide && (
        <div>
          <Segmented
            label={title}
            value={current}
            options={ADMIN_TABS.map((value) => ({ value, label: t(`admin.tab.${value}`) }))}
            onChange={(next) => navigate(paths.admin(next))}
          />
        </div>
      )}
      {current === 'users' && <UsersSection ownId={ownId} />}
      {current === 'groups' && <GroupsSection />}
      {current === 'invitations' && <InvitationsSection />}
      {current === 'usage' && <UsageSection />}
      {current === 'server' && <ServerSection />}
      {current === 'audit' && <AuditSection />}
    </div>
  )
}
