// The display name of a tool.
import type { TFunction } from 'i18next'
import { toolNames } from './i18n/english/tools.ts'

const isNamed = (name: string): name is keyof typeof toolNames => Object.hasOwn(toolNames, name)

/** The name of a built-in tool in the page's language, `mcp__server__tool` as "server: tool", others as plain words. */
export function toolTitle(name: string, t: TFunction): string {
  if (isNamed(name)) return t(`toolNames.${name}`)
  const [prefix, server, ...rest] = name.split('__')
  if (prefix === 'mcp' && server !== undefined && rest.length > 0)
    return `${server}: ${rest.join(' ').replaceAll('_', ' ')}`
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
