// Hook that registers the commands of every screen: navigation, theme, language, and those with a shortcut.
import { useLocation } from 'wouter'
import { useCommand } from '../lib/commands.ts'
import { paths } from '../lib/paths.ts'
import { useTheme } from '../lib/preferences/theme.ts'
import type { Shortcut } from './use-shortcuts.ts'

/** Registers the commands while the caller is mounted. `act` performs those with a shortcut. */
export function useShellCommands(act: (shortcut: Shortcut) => void): void {
  const [, navigate] = useLocation()
  const { dark, choose } = useTheme()
  useCommand('newChat', () => navigate(paths.home))
  useCommand('search', () => act('search'))
  useCommand('sidebar', () => act('sidebar'))
  useCommand('shortcuts', () => act('help'))
  useCommand('newProject', () => navigate(paths.newProject))
  useCommand('waiting', () => navigate(paths.waiting))
  useCommand('projects', () => navigate(paths.projects))
  useCommand('memory', () => navigate(paths.memory))
  useCommand('usage', () => navigate(paths.stats))
  useCommand('settings', () => navigate(paths.settings))
  useCommand('models', () => navigate(paths.settingsTab('models')))
  useCommand('theme', () => choose(dark ? 'light' : 'dark'))
  useCommand('language', () => navigate(paths.settingsTab('appearance')))
}
