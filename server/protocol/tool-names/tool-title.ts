// The name of a tool for people, the same on the page and in documents that the server writes.
import { toolNames } from './english.ts'

/** A tool, or a change by hand, that has a name in every language. */
export type NamedTool = keyof typeof toolNames

const isNamed = (name: string): name is NamedTool => Object.hasOwn(toolNames, name)

/**
 * The name of a built-in tool, `mcp__server__tool` as "server: tool", others as plain words.
 * @param nameOf the names of one language.
 */
export function titleOfTool(name: string, nameOf: (name: NamedTool) => string): string {
  if (isNamed(name)) return nameOf(name)
  const [prefix, server, ...rest] = name.split('__')
  if (prefix === 'mcp' && server !== undefined && rest.length > 0)
    return `${server}: ${rest.join(' ').replaceAll('_', ' ')}`
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
