// The prompts of a server: lists them, and converts one to the text of a message.
import type { McpPrompt } from '../../protocol/models/mcp.ts'
import { visibleText } from '../../protocol/runs/visible-text.ts'
import type { RemoteClient } from './sdk.ts'
import { CONNECT_TIMEOUT_MS } from './timing.ts'

const MAX_PROMPTS = 100
const MAX_TEXT = 100_000
const MAX_LINE = 500

/** At most 100; empty if the server offers none. */
export async function listPrompts(client: RemoteClient, server: string): Promise<McpPrompt[]> {
  if (client.getServerCapabilities()?.prompts === undefined) return []
  const { prompts } = await client.listPrompts(undefined, { timeout: CONNECT_TIMEOUT_MS })
  return prompts.slice(0, MAX_PROMPTS).map((prompt) => ({
    server,
    name: prompt.name.slice(0, MAX_LINE),
    ...(prompt.title === undefined ? {} : { title: prompt.title.slice(0, MAX_LINE) }),
    ...(prompt.description === undefined
      ? {}
      : { description: prompt.description.slice(0, MAX_LINE) }),
    arguments: (prompt.arguments ?? []).slice(0, 20).map(({ name, description, required }) => ({
      name,
      required: required === true,
      ...(description === undefined ? {} : { description: description.slice(0, MAX_LINE) }),
    })),
  }))
}

/**
 * The texts of the prompt's messages; other content is left out. A person sends the text as their own, so characters that
 * they would not see are escaped. @throws the SDK's error.
 */
export async function fillPrompt(
  client: RemoteClient,
  name: string,
  values: Record<string, string>,
): Promise<string> {
  const { messages } = await client.getPrompt(
    { name, arguments: values },
    { timeout: CONNECT_TIMEOUT_MS },
  )
  const text = messages
    .flatMap(({ content }) => {
      if (content.type === 'text') return [content.text]
      return content.type === 'resource' && 'text' in content.resource
        ? [content.resource.text]
        : []
    })
    .join('\n\n')
    .slice(0, MAX_TEXT)
  return visibleText(text).slice(0, MAX_TEXT)
}
