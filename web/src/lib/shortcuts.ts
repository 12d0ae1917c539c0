// The keyboard shortcuts as the page displays them.
import type { TFunction } from 'i18next'
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

/** The keys that keyboards of other languages call otherwise. */
const NAMED_KEYS = ['Ctrl', 'Shift', 'Enter', 'Esc'] as const

/** What the keyboard of the page's language says on a key. */
export function keyName(key: string, t: TFunction): string {
  const named = NAMED_KEYS.find((one) => one === key)
  return named === undefined ? key : t(`keys.${named}`)
}

/** The shortcut of a command as text, such as "Ctrl+K" or "⌘K"; empty if it has none. */
export const keysText = (name: CommandName, t: TFunction): string =>
  COMMAND_KEYS[name]?.map((key) => keyName(key, t)).join(isApple ? '' : '+') ?? ''
