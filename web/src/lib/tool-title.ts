// What a tool is called on the page.
import type { TFunction } from 'i18next'
import { toolNames } from './i18n/english-tools.ts'

const isNamed = (name: string): name is keyof typeof toolNames => Object.hasOwn(toolNames, name)

/** A built-in tool by its name in the page's language, `mcp__server__tool` as "server: tool", others in plain words. */
export function toolTitle(name: string, t: TFunction): string {
  if (isNamed(name)) return t(`toolNames.${name}`)
  const [prefix, server, ...rest] = name.split('__')
  if (prefix === 'mcp' && server !== undefined && rest.length > 0)
    return `${server}: ${rest.join(' ').replaceAll('_', ' ')}`
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
