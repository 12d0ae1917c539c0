// The sections of the settings that can be opened by name, as from the palette.
import type { SETTINGS_TABS } from './paths.ts'

/** `title` is the key of the section's heading. A section for accounts exists only where there are some. */
export const SETTINGS_SECTIONS = [
  { id: 'instructions', tab: 'agent', title: 'agent.instructions' },
  { id: 'skills', tab: 'agent', title: 'skills.title' },
  { id: 'prompts', tab: 'agent', title: 'savedPrompts.title' },
  { id: 'tools', tab: 'agent', title: 'tools.title' },
  { id: 'webhooks', tab: 'channels', title: 'webhooks.title' },
  { id: 'storage', tab: 'data', title: 'quota.kind.storage' },
  { id: 'export', tab: 'data', title: 'data.export' },
  { id: 'import', tab: 'data', title: 'data.import' },
  { id: 'email', tab: 'account', title: 'settings.email', isForAccounts: true },
  { id: 'password', tab: 'account', title: 'settings.password', isForAccounts: true },
  { id: 'second-factor', tab: 'account', title: 'secondFactor.title', isForAccounts: true },
  { id: 'sessions', tab: 'account', title: 'sessions.title', isForAccounts: true },
  { id: 'api-keys', tab: 'account', title: 'apiKeys.title', isForAccounts: true },
] as const satisfies readonly {
  id: string
  tab: (typeof SETTINGS_TABS)[number]
  title: string
  isForAccounts?: true
}[]

/** The name of a section, also in the URL. */
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number]['id']
