// The places in the settings and the administration that the palette finds by name.
import { type LucideIcon, Settings, ShieldCheck } from 'lucide-react'
import { useAuthMode, useProfile } from '../../lib/api/auth.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ADMIN_TABS, paths, SETTINGS_TABS } from '../../lib/paths.ts'
import { DISPLAY_CHOICES, type Display } from '../../lib/preferences/display.ts'
import { SETTINGS_SECTIONS } from '../../lib/settings-sections.ts'

/** A place with its path; the label names the page, the tab and the section. */
export type SettingsPlace = { path: string; icon: LucideIcon; label: string }

/** The tabs and sections of the settings, and for administrators those of the administration. */
export function useSettingsPlaces(): SettingsPlace[] {
  const { t } = useTranslation()
  const hasAccounts = useAuthMode().data?.mode === 'multi'
  const isAdmin = useProfile().data?.role === 'admin'
  const inSettings = (tab: (typeof SETTINGS_TABS)[number], name?: string): string =>
    [t('settings.title'), t(`settings.tab.${tab}`), ...(name === undefined ? [] : [name])].join(
      ' › ',
    )
  const tabs = SETTINGS_TABS.map((tab) => ({
    path: paths.settingsTab(tab),
    icon: Settings,
    label: inSettings(tab),
  }))
  const choices = Object.keys(DISPLAY_CHOICES).map((name) => ({
    path: paths.settingsTab('appearance'),
    icon: Settings,
    // The keys of an object are typed as texts.
    label: inSettings('appearance', t(`settings.display.${name as keyof Display}.label`)),
  }))
  const sections = SETTINGS_SECTIONS.filter(
    (section) => hasAccounts || !('isForAccounts' in section),
  ).map(({ id, tab, title }) => ({
    path: paths.settingsSection(tab, id),
    icon: Settings,
    label: inSettings(tab, t(title)),
  }))
  const administration = ADMIN_TABS.map((tab) => ({
    path: paths.admin(tab),
    icon: ShieldCheck,
    label: `${t('admin.title')} › ${t(`admin.tab.${tab}`)}`,
  }))
  return [...tabs, ...choices, ...sections, ...(hasAccounts && isAdmin ? administration : [])]
}
