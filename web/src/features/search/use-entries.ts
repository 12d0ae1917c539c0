// The entries of the palette besides hits: recent conversations, projects, files of projects, and available commands with places in the settings.
import { useQuery } from '@tanstack/react-query'
import { FileText, FolderOpen, type LucideIcon, MessageSquare } from 'lucide-react'
import type { z } from 'zod'
import type { ConversationPage } from '../../../../server/protocol/conversations/conversation.ts'
import { useProjects } from '../../lib/api/projects.ts'
import { useFoundFiles } from '../../lib/api/search.ts'
import { COMMAND_NAMES, useCommands } from '../../lib/commands.ts'
import { conversationTitle } from '../../lib/conversation-title.ts'
import { request } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { keysText } from '../../lib/shortcuts.ts'
import { COMMAND_ICONS } from '../../ui/command-icons.ts'
import { useSettingsPlaces } from './use-settings-places.ts'

/** A line of the palette that is not a hit. */
export type Entry = {
  kind: 'conversation' | 'project' | 'file' | 'command'
  key: string
  icon: LucideIcon
  text: string
  /** Where it is. */
  place?: string
  /** The keyboard shortcut; empty for none. */
  keys: string
  choose(): void
}

/** How many conversations are shown before anything is typed. */
const RECENT_CONVERSATIONS = 5
/** Most commands, projects and files next to hits. */
const MAX_BESIDE_HITS = 4

/**
 * Recent conversations and all commands for an empty `text`; otherwise a few projects, files and commands that contain all of its
 * words. `paused` is the text once typing pauses, for which files are looked up.
 */
export function useEntries(
  text: string,
  paused: string,
  navigate: (path: string) => void,
): readonly Entry[] {
  const { t } = useTranslation()
  const actions = useCommands((store) => store.actions)
  const places = useSettingsPlaces()
  const { data } = useQuery({
    queryKey: ['recent-conversations'],
    queryFn: ({ signal }) =>
      request<z.output<typeof ConversationPage>>('/api/conversations', {
        query: { limit: RECENT_CONVERSATIONS },
        signal,
      }),
    meta: { quiet: true },
  })
  const { data: projects } = useProjects(text !== '')
  const { data: files = [] } = useFoundFiles(paused)
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const hasWords = (name: string): boolean =>
    words.every((word) => name.toLowerCase().includes(word))
  const recent = text === '' ? (data?.items ?? []) : []
  const commands = COMMAND_NAMES.flatMap((name): Entry[] => {
    const act = actions[name]
    const label = t(`commands.${name}`)
    // The palette itself is open.
    if (act === undefined || name === 'search') return []
    if (!hasWords(`${label} ${name}`)) return []
    const icon = COMMAND_ICONS[name]
    return [{ kind: 'command', key: name, icon, text: label, keys: keysText(name, t), choose: act }]
  })
  if (text !== '')
    for (const { path, icon, label } of places)
      if (hasWords(label))
        commands.push({
          kind: 'command',
          key: label,
          icon,
          text: label,
          keys: '',
          choose: () => navigate(path),
        })
  // A text that equals a command's name means that command, not a longer one that contains it.
  const typed = words.join(' ')
  const isNamed = ({ text: label }: Entry): boolean => label.toLowerCase() === typed
  commands.sort((one, other) => Number(isNamed(other)) - Number(isNamed(one)))
  return [
    ...recent.map(
      ({ id, title }): Entry => ({
        kind: 'conversation',
        key: id,
        icon: MessageSquare,
        text: conversationTitle(title, t),
        keys: '',
        choose: () => navigate(paths.conversation(id)),
      }),
    ),
    ...(text === '' ? [] : (projects ?? []))
      .filter(({ name }) => hasWords(name))
      .slice(0, MAX_BESIDE_HITS)
      .map(
        ({ id, name }): Entry => ({
          kind: 'project',
          key: id,
          icon: FolderOpen,
          text: name,
          keys: '',
          choose: () => navigate(paths.project(id)),
        }),
      ),
    ...(text === '' ? [] : files)
      .filter(({ path }) => hasWords(path))
      .slice(0, MAX_BESIDE_HITS)
      .map(
        ({ project_id: id, project_name: project, path }): Entry => ({
          kind: 'file',
          key: `${id} ${path}`,
          icon: FileText,
          text: path,
          place: project,
          keys: '',
          choose: () => navigate(paths.projectFile(id, { path })),
        }),
      ),
    ...(text === '' ? commands : commands.slice(0, MAX_BESIDE_HITS)),
  ]
}
