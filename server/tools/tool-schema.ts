// The form in which models get tools.
import type { ToolSchema } from '../llm/client.ts'
import type { ToolDefinition } from './definition.ts'

/** The newest of each tool. */
const schemas = new WeakMap<ToolDefinition, ToolSchema>()

/**
 * The form in which a model gets a tool: the same object until the tool is described in another way, so that requests can
 * recognize the tools of earlier ones (`llm/tool-texts.ts`).
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
