// The keys of the page's shortcuts, as they are shown to people.
import type { CommandName } from './commands.ts'

export const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** The key that goes with a letter. */
export const commandKey = isApple ? '⌘' : 'Ctrl'

export const COMMAND_KEYS: Partial<Record<CommandName, readonly string[]>> = {
  newChat: [commandKey, 'Shift', 'O'],
  search: [commandKey, 'K'],
  sidebar: [commandKey, 'B'],
  stop: ['Esc'],
  shortcuts: ['?'],
}

/** On one line, such as "Ctrl+K" or "⌘K"; empty for a command without keys. */
export const keysText = (name: CommandName): string =>
  COMMAND_KEYS[name]?.join(isApple ? '' : '+') ?? ''
