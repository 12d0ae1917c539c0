// What a person can do from the `/` menu and the palette: whoever can do it at the moment registers it here.
import { useEffect, useRef } from 'react'
import { create } from 'zustand'

/** In the order in which they are listed. */
export const COMMAND_NAMES = [
  'newChat',
  'stop',
  'share',
  'exportMarkdown',
  'exportHtml',
  'exportJson',
  'conversationSettings',
  'branches',
  'runInspector',
  'search',
  'projects',
  'memory',
  'usage',
  'settings',
  'models',
  'theme',
  'language',
  'sidebar',
  'shortcuts',
] as const

/** Each has a title among the texts of the page. */
export type CommandName = (typeof COMMAND_NAMES)[number]

type Commands = { actions: Readonly<Partial<Record<CommandName, () => void>>> }

export const useCommands = create<Commands>(() => ({ actions: {} }))

/** Offers a command while the caller is mounted; null: not at the moment. */
export function useCommand(name: CommandName, action: (() => void) | null): void {
  const newest = useRef(action)
  newest.current = action
  const isOffered = action !== null
  useEffect(() => {
    if (!isOffered) return
    const act = (): void => newest.current?.()
    useCommands.setState(({ actions }) => ({ actions: { ...actions, [name]: act } }))
    return () =>
      useCommands.setState(({ actions }) => {
        if (actions[name] !== act) return {}
        const { [name]: _removed, ...rest } = actions
        return { actions: rest }
      })
  }, [name, isOffered])
}
