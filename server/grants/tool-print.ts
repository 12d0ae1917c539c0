// Identifies what a tool says about itself, so that a grant ends when that changes.
import { createHash } from 'node:crypto'
import type { GrantRow } from '../db/repositories/runs/grants.ts'
import type { ToolDefinition } from '../tools/definition.ts'

/**
 * The identity of a tool's description and schema. For tools of MCP servers the part of their grant key behind `@`, so that
 * remembered approvals and grants end together. Computed anew each time, because the description of a tool may change.
 */
export const toolPrintOf = (tool: ToolDefinition): string =>
  tool.grantKey === undefined
    ? createHash('sha256')
        .update(JSON.stringify([tool.description, tool.parameters]))
        .digest('hex')
        .slice(0, 16)
    : partsOfKey(tool.grantKey).print

/** The name and the identity in a key under which an approval was remembered; '' for a built-in tool. */
export function partsOfKey(key: string): { name: string; print: string } {
  const at = key.indexOf('@')
  return at === -1 ? { name: key, print: '' } : { name: key.slice(0, at), print: key.slice(at + 1) }
}

/** The key under which versions without the table of grants remember an approval; see `partsOfKey`. */
export const keyOf = ({ tool, toolPrint }: Pick<GrantRow, 'tool' | 'toolPrint'>): string =>
  toolPrint === null ? tool : `${tool}@${toolPrint}`
