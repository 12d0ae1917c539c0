// The commands of the `/` menu and the palette. The component that can currently perform a command registers it here.

import { useEffect } from 'react'
import { create } from 'zustand'
import { useNewest } from './newest.ts'

/** All commands, in the order of the menus. */
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
  'newProject',
  'projects',
  'memory',
  'waiting',
  'usage',
  'settings',
  'models',
  'theme',
  'language',
  'sidebar',
  'shortcuts',
] as const

/** The name of a command; the page's texts have a title for each. */
export type CommandName = (typeof COMMAND_NAMES)[number]

type Commands = { actions: Readonly<Partial<Record<CommandName, () => void>>> }

/** The actions of the available commands, by name. */
export const useCommands = create<Commands>(() => ({ actions: {} }))

/** Registers a command while the caller is mounted. With `action` null the command is unavailable. */
export function useCommand(name: CommandName, action: (() => void) | null): void {
  const newest = useNewest(action)
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
