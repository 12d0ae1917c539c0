// The administration: accounts, groups, invitations, audit log, server. The server refuses it to other users.
import { useRef } from 'react'
import { useLocation } from 'wouter'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ADMIN_TABS, paths } from '../../lib/paths.ts'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { useCurrentInView } from '../../ui/controls/use-current-in-view.ts'
import { AuditSection } from './audit-section.tsx'
import { GroupsSection } from './groups-section.tsx'
import { InvitationsSection } from './invitations-section.tsx'
import { ServerSection } from './server-section.tsx'
import { UsersSection } from './users-section.tsx'

/** `tab` is the part of the URL that names the section; accounts by default. `ownId` is the administrator's own account. */
export function AdminPage({ tab, ownId }: { tab: string | undefined; ownId: string | undefined }) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const current = ADMIN_TABS.find((one) => one === tab) ?? 'users'
  const tabs = useRef<HTMLDivElement>(null)
  useCurrentInView(tabs, `[data-value="${current}"]`)
  return (
    <div className="mx-auto flex w-full max-w-4xl flex-col gap-6 px-5 py-8">
      <h1 className="font-display text-3xl tracking-tight">{t('admin.title')}</h1>
      <div ref={tabs} className="-mx-5 overflow-x-auto px-5 whitespace-nowrap">
        <Segmented
          label={t('admin.title')}
          value={current}
          options={ADMIN_TABS.map((value) => ({ value, label: t(`admin.tab.${value}`) }))}
          onChange={(next) => navigate(paths.admin(next))}
        />
      </div>
      {current === 'users' && <UsersSection ownId={ownId} />}
      {current === 'groups' && <GroupsSection />}
      {current === 'invitations' && <InvitationsSection />}
      {current === 'server' && <ServerSection />}
      {current === 'audit' && <AuditSection />}
    </div>
  )
}
