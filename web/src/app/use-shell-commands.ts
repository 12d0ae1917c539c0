// The commands that every screen offers: navigation, theme, language, and what the shortcuts do.
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import { useCommand } from '../lib/commands.ts'
import { chooseLanguage } from '../lib/i18n/i18n.ts'
import { paths } from '../lib/paths.ts'
import { useTheme } from '../lib/theme.ts'
import type { Shortcut } from './use-shortcuts.ts'

export function useShellCommands(act: (shortcut: Shortcut) => void): void {
  const [, navigate] = useLocation()
  const { i18n } = useTranslation()
  const { dark, choose } = useTheme()
  useCommand('newChat', () => navigate(paths.home))
  useCommand('search', () => act('search'))
  useCommand('sidebar', () => act('sidebar'))
  useCommand('shortcuts', () => act('help'))
  useCommand('projects', () => navigate(paths.projects))
  useCommand('memory', () => navigate(paths.memory))
  useCommand('usage', () => navigate(paths.stats))
  useCommand('settings', () => navigate(paths.settings))
  useCommand('models', () => navigate(paths.settingsTab('models')))
  useCommand('theme', () => choose(dark ? 'light' : 'dark'))
  useCommand('language', () => void chooseLanguage(i18n.language === 'zh' ? 'en' : 'zh'))
}
