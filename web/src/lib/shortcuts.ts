// The keyboard shortcuts as the page displays them.
import type { CommandName } from './commands.ts'

/** Whether the device has Apple keys: ⌘ instead of Ctrl. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** The modifier key of shortcuts. */
export const commandKey = isApple ? '⌘' : 'Ctrl'

/** The keys of each command that has a shortcut. */
export const COMMAND_KEYS: Partial<Record<CommandName, readonly string[]>> = {
  newChat: [commandKey, 'Shift', 'O'],
  search: [commandKey, 'K'],
  sidebar: [commandKey, 'B'],
  stop: ['Esc'],
  shortcuts: ['?'],
}

/** The shortcut of a command as text, such as "Ctrl+K" or "⌘K"; empty if it has none. */
export const keysText = (name: CommandName): string =>
  COMMAND_KEYS[name]?.join(isApple ? '' : '+') ?? ''
