// Reads agents of LibreChat as its API returns them: one, a list, or a page of a list.
import { z } from 'zod'
import { createDraft, type DraftWriter } from './draft.ts'
import { givenNames, listOf, number, text, within } from './lenient.ts'

const ModelParameters = within({
  temperature: number,
  max_tokens: number,
  maxTokens: number,
  max_output_tokens: number,
  maxOutputTokens: number,
})
const Agent = z.looseObject({
  id: text,
  name: text,
  description: text,
  instructions: text,
  provider: z.string(),
  model: z.string().nullish(),
  model_parameters: ModelParameters,
  conversation_starters: listOf(z.string()),
  tools: listOf(z.string()),
  actions: listOf(z.string()),
  agent_ids: listOf(z.string()),
  edges: listOf(z.unknown()),
  tool_resources: z.record(z.string(), within({ file_ids: listOf(z.string()) })).catch({}),
  avatar: within({ filepath: text }),
})

const KNOWN_PARAMETERS = Object.keys(ModelParameters.unwrap().shape)
/** Separates the name of a tool from the server or address that offers it. */
const TOOL_ORIGIN = /_(?:mcp|action)_.*$/

/** Whether an entry is an agent. */
export const isLibreChatAgent = (entry: unknown): boolean =>
  Agent.extend({ model: z.string() })
    .refine(
      (agent) =>
        agent.id?.startsWith('agent_') === true ||
        ('instructions' in agent && ('model_parameters' in agent || 'tools' in agent)),
    )
    .safeParse(entry).success

/** A draft of an agent, and the address of its image, which may be in the file as `data:`. */
export function readLibreChatAgent(entry: unknown): { writer: DraftWriter; image: string | null } {
  const agent = Agent.parse(entry)
  const writer = createDraft('LibreChat')
  writer.name(agent.name)
  writer.description(agent.description)
  writer.instructions(agent.instructions)
  writer.starters(agent.conversation_starters.map((text) => ({ title: '', text })))
  writer.model(agent.model ?? undefined)
  const parameters = agent.model_parameters
  writer.temperature(parameters.temperature)
  writer.maxTokens(
    parameters.max_tokens ??
      parameters.maxTokens ??
      parameters.max_output_tokens ??
      parameters.maxOutputTokens,
  )
  writer.leaveOut('parameters', 'no_counterpart', givenNames(parameters, KNOWN_PARAMETERS))
  const tools = [...agent.tools, ...agent.actions].map((name) => name.replace(TOOL_ORIGIN, ''))
  writer.leaveOut('tools', 'no_counterpart', [...new Set(tools)].slice(0, 50))
  const files = Object.values(agent.tool_resources).flatMap(({ file_ids }) => file_ids)
  if (files.length > 0)
    writer.note('knowledge', 'left_out', 'not_in_file', String(new Set(files).size))
  const others = Math.max(agent.agent_ids.length, agent.edges.length)
  if (others > 0) writer.note('sub_agents', 'left_out', 'no_counterpart', String(others))
  return { writer, image: agent.avatar.filepath ?? null }
}
