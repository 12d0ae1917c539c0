// The form in which models receive tools.
import type { ToolSchema } from '../llm/client.ts'
import type { ToolDefinition } from './definition.ts'

/** The newest schema of each tool. */
const schemas = new WeakMap<ToolDefinition, ToolSchema>()

/**
 * The form in which a model receives a tool: the same object until the tool's description changes, so that requests can
 * recognize the tools of earlier requests (`llm/tokens.ts`).
 */
export function toSchema(tool: ToolDefinition): ToolSchema {
  const { name, description, parameters } = tool
  const known = schemas.get(tool)
  if (known?.function.description === description && known.function.parameters === parameters)
    return known
  const schema: ToolSchema = { type: 'function', function: { name, description, parameters } }
  schemas.set(tool, schema)
  return schema
}
