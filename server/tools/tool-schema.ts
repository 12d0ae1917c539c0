// The form in which models receive tools.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
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

/** Tools of programs that are remembered, and the characters of their JSON. */
const MAX_PROGRAM_TOOLS = 2_000
const MAX_PROGRAM_CHARACTERS = 4_000_000

/** By a hash of their JSON. */
const programSchemas = new LRUCache<string, ToolSchema>({
  max: MAX_PROGRAM_TOOLS,
  maxSize: MAX_PROGRAM_CHARACTERS,
})

/**
 * The form in which a model receives a tool that a program sent with its request: the same object for the same tool in later
 * requests, so that what is derived from it (the adapted schema, the text of the list, its tokens) is derived once.
 */
export function programSchema({
  name,
  description,
  parameters,
}: ToolSchema['function']): ToolSchema {
  const schema: ToolSchema = { type: 'function', function: { name, description, parameters } }
  const text = JSON.stringify(schema)
  const key = createHash('sha256').update(text).digest('base64')
  const known = programSchemas.get(key)
  if (known !== undefined) return known
  programSchemas.set(key, schema, { size: text.length })
  return schema
}
