// The form in which arguments of a tool are compared, and which of them bound what a call can reach.
import { typedAddress } from '../lib/web-addresses.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import { parsePath } from '../workspace/files/paths.ts'

/** What kind of text an argument is. */
export type ArgumentKind = 'path' | 'address' | 'command' | 'value'

type Tool = Pick<ToolDefinition, 'name' | 'category'>

const FETCH_TOOLS: ReadonlySet<string> = new Set(['fetch_page', 'crawl_batch'])
/** The tool that runs commands. */
export const EXEC = 'exec'

const isMcp = ({ category }: Tool): boolean => category === 'mcp'
const isFetch = ({ name }: Tool): boolean => FETCH_TOOLS.has(name)

/** The kind of a tool's argument. */
export function kindOf(tool: Tool, argument: string): ArgumentKind {
  if (argument === 'path' && tool.category === 'file') return 'path'
  // It becomes a path of the project, so that `..` in it must not get past a pattern.
  if (argument === 'save_as' && tool.name === 'generate_image') return 'path'
  if (argument === 'url' || argument === 'urls') return 'address'
  if (argument === 'command' && tool.name === EXEC) return 'command'
  return 'value'
}

/** Whether an argument bounds what a call can reach; `null`: no argument of the tool does. */
export function boundsOf(tool: Tool): ((argument: string) => boolean) | null {
  if (isMcp(tool)) return () => true
  if (tool.category === 'file') return (argument) => argument === 'path'
  if (tool.name === 'message') return (argument) => argument === 'to'
  if (tool.name === 'generate_image') return (argument) => argument === 'save_as'
  if (isFetch(tool)) return (argument) => argument === 'url' || argument === 'urls'
  return null
}

/** Whether calls of the tool can have risk `medium` although the tool has risk `low`: a new address raises it. */
export const mayBecomeMedium = (tool: Tool): boolean => isMcp(tool) || isFetch(tool)

/**
 * A text in its normal form: paths relative to the project, addresses as WHATWG writes them. Null for a path that leaves the
 * project, and for a text that is no address although its tool opens it.
 */
export function normalForm(tool: Tool, kind: ArgumentKind, text: string): string | null {
  if (kind === 'path') return normalPath(text)
  if (kind !== 'address') return text
  const address = isFetch(tool) ? typedAddress(text) : text
  if (URL.canParse(address)) return new URL(address).href
  return isFetch(tool) ? null : text
}

function normalPath(text: string): string | null {
  try {
    return parsePath(text).text
  } catch {
    // It leaves the project, or no file can have this name.
    return null
  }
}
