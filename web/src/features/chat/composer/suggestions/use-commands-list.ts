// The entries of the `/` list: skills, saved prompts, available commands and prompts of MCP servers, filtered by the query.
import { Bookmark, GraduationCap, Plug } from 'lucide-react'
import {
  fieldsOfPrompt,
  filledPrompt,
} from '../../../../../../server/protocol/accounts/prompt-fields.ts'
import type { ProjectId } from '../../../../../../server/protocol/ids.ts'
import { fillPrompt, useMcpPrompts } from '../../../../lib/api/mcp.ts'
import { usePreferences } from '../../../../lib/api/preferences.ts'
import { useSkillCommands } from '../../../../lib/api/skills.ts'
import { insertIntoComposer } from '../../../../lib/browser/composer-insert.ts'
import { COMMAND_NAMES, useCommands } from '../../../../lib/commands.ts'
import { useTranslation } from '../../../../lib/i18n/use-translation.tsx'
import { skillDescription } from '../../../../lib/skill-description.ts'
import { COMMAND_ICONS } from '../../../../ui/command-icons.ts'
import { reportError } from '../../../../ui/states/error-text.ts'
import { askForFields } from '../prompt-to-fill.ts'
import { type Editing, SUGGESTIONS_OF_A_KIND, type Suggestion } from './suggestion.ts'

/** Skills first, then saved prompts, commands, and prompts of MCP servers. `query` is the text after the `/`. */
export function useCommandsList(
  query: string,
  projectId: ProjectId | null,
  editing: Editing,
): Suggestion[] {
  return [
    ...useSkillNames(query, projectId, editing),
    ...useSavedPrompts(query, editing),
    ...useCommandNames(query, editing),
    ...usePrompts(query, editing),
  ]
}

/** Choosing a skill writes its name at the beginning of the message, where it stays visible and can be deleted. */
function useSkillNames(
  query: string,
  projectId: ProjectId | null,
  { replace }: Editing,
): Suggestion[] {
  const { t } = useTranslation()
  const { data = [] } = useSkillCommands(projectId)
  const search = query.toLowerCase()
  return data
    .filter(({ name, title }) => `${name} ${title}`.toLowerCase().includes(search))
    .slice(0, SUGGESTIONS_OF_A_KIND)
    .map(({ name, title, description }) => ({
      key: `skill ${name}`,
      icon: GraduationCap,
      label: title,
      hint: skillDescription({ name, description }, t),
      choose: () => replace(`/${name} `),
    }))
}

function useSavedPrompts(query: string, { replace }: Editing): Suggestion[] {
  const { t } = useTranslation()
  const { data } = usePreferences()
  const search = query.toLowerCase()
  return (data?.saved_prompts ?? [])
    .filter(({ name }) => name.toLowerCase().includes(search))
    .slice(0, SUGGESTIONS_OF_A_KIND)
    .map(({ name, text }) => ({
      key: `saved ${name}`,
      icon: Bookmark,
      label: name,
      hint: t('prompts.saved'),
      choose() {
        replace('')
        const fields = fieldsOfPrompt(text)
        if (fields.length === 0) {
          insertIntoComposer(text)
          return
        }
        askForFields({
          key: `saved ${name}`,
          title: name,
          description: undefined,
          fields: fields.map((field) => ({ name: field, required: true })),
          fill: (values) => filledPrompt(text, values),
        })
      },
    }))
}

/** Choosing a prompt inserts its text into the field, so that the user sees it before sending. */
function usePrompts(query: string, { replace }: Editing): Suggestion[] {
  const { t } = useTranslation()
  const { data = [] } = useMcpPrompts()
  const search = query.toLowerCase()
  const choose = async (prompt: (typeof data)[number]): Promise<void> => {
    replace('')
    if (prompt.arguments.length > 0)
      return askForFields({
        key: `${prompt.server} ${prompt.name}`,
        title: prompt.title ?? prompt.name,
        description: [t('prompts.from', { server: prompt.server }), prompt.description]
          .filter((part) => part !== undefined)
          .join(' '),
        fields: prompt.arguments,
        fill: async (values) => (await fillPrompt(prompt, values)).text,
      })
    try {
      const { text } = await fillPrompt(prompt, {})
      insertIntoComposer(text)
    } catch (error) {
      reportError(error)
    }
  }
  return data
    .filter(({ name, title = '', server }) =>
      `${server}:${name} ${title}`.toLowerCase().includes(search),
    )
    .slice(0, SUGGESTIONS_OF_A_KIND)
    .map((prompt) => ({
      key: `prompt ${prompt.server} ${prompt.name}`,
      icon: Plug,
      label: prompt.title ?? prompt.name,
      hint: prompt.server,
      choose: () => void choose(prompt),
    }))
}

function useCommandNames(query: string, { replace }: Editing): Suggestion[] {
  const { t } = useTranslation()
  const actions = useCommands((store) => store.actions)
  const search = query.toLowerCase()
  return COMMAND_NAMES.flatMap((name) => {
    const act = actions[name]
    const label = t(`commands.${name}`)
    const matches = `${name} ${label}`.toLowerCase().includes(search)
    if (act === undefined || !matches) return []
    const choose = (): void => {
      replace('')
      act()
    }
    return [{ key: name, icon: COMMAND_ICONS[name], label, choose }]
  })
}
