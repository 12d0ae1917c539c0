// The commands that the person can give now, filtered by what follows the `/`.
import { useTranslation } from 'react-i18next'
import { COMMAND_NAMES, useCommands } from '../../../../lib/commands.ts'
import { commandIcons } from '../../../../ui/command-icons.ts'
import type { Editing, Suggestion } from './suggestion.ts'

export function useCommandsList(query: string, { replace }: Editing): Suggestion[] {
  const { t } = useTranslation()
  const actions = useCommands((store) => store.actions)
  const wanted = query.toLowerCase()
  return COMMAND_NAMES.flatMap((name) => {
    const act = actions[name]
    const label = t(`commands.${name}`)
    const isWanted = `${name} ${label}`.toLowerCase().includes(wanted)
    if (act === undefined || !isWanted) return []
    const choose = (): void => {
      replace('')
      act()
    }
    return [{ key: name, icon: commandIcons[name], label, choose }]
  })
}
