// The resources of a server: lists them and the templates of further ones, and reads one as a file.
import { appError } from '../../../errors.ts'
import type { McpResource, McpResourceTemplate } from '../../../protocol/models/mcp.ts'
import { isUriTemplate, variablesOf } from '../../../protocol/models/uri-template.ts'
import { isUnknownMethod } from '../faults.ts'
import type { RemoteClient } from '../sdk.ts'
import { CONNECT_TIMEOUT_MS } from '../timing.ts'

const MAX_RESOURCES = 200
const MAX_LINE = 500
const MAX_URI = 4_000
const MAX_VARIABLES = 20

/** A resource that was read. Its content is text from outside. */
export interface ReadResource {
  /** Includes the extension that identifies its type. */
  name: string
  content: Buffer
}

/** At most 200, without resources whose address is too long; empty if the server offers none. */
export async function listResources(client: RemoteClient, server: string): Promise<McpResource[]> {
  if (client.getServerCapabilities()?.resources === undefined) return []
  const { resources } = await client.listResources(undefined, { timeout: CONNECT_TIMEOUT_MS })
  return resources
    .filter(({ uri }) => uri.length <= MAX_URI)
    .slice(0, MAX_RESOURCES)
    .map(({ uri, size, ...resource }) => ({
      server,
      uri,
      ...described(resource),
      ...(size === undefined ? {} : { size: Math.max(0, Math.round(size)) }),
    }))
}

/** At most 200, without unreadable ones; empty if the server offers none. */
export async function listResourceTemplates(
  client: RemoteClient,
  server: string,
): Promise<McpResourceTemplate[]> {
  if (client.getServerCapabilities()?.resources === undefined) return []
  const listed = await client
    .listResourceTemplates(undefined, { timeout: CONNECT_TIMEOUT_MS })
    .catch((fault: unknown) => {
      // Servers do not announce whether they have any.
      if (isUnknownMethod(fault)) return { resourceTemplates: [] }
      throw fault
    })
  return listed.resourceTemplates
    .filter(({ uriTemplate }) => uriTemplate.length <= MAX_URI && isUriTemplate(uriTemplate))
    .slice(0, MAX_RESOURCES)
    .map(({ uriTemplate, ...template }) => ({
      server,
      uri_template: uriTemplate,
      ...described(template),
      arguments: variablesOf(uriTemplate).slice(0, MAX_VARIABLES),
    }))
}

/** A server's description of a resource, bounded. */
const described = ({
  name,
  title,
  description,
  mimeType,
}: {
  name: string
  title?: string | undefined
  description?: string | undefined
  mimeType?: string | undefined
}): Pick<McpResource, 'name' | 'title' | 'description' | 'mime'> => ({
  name: name.slice(0, MAX_LINE),
  ...(title === undefined ? {} : { title: title.slice(0, MAX_LINE) }),
  ...(description === undefined ? {} : { description: description.slice(0, MAX_LINE) }),
  ...(mimeType === undefined ? {} : { mime: mimeType.slice(0, MAX_LINE) }),
})

/**
 * The content of a resource: its texts, or else its first binary part. The transport limits it to 10 MB.
 * @throws AppError `mcp_resource_empty`, and the SDK's error.
 */
export async function readResource(
  client: RemoteClient,
  server: string,
  uri: string,
): Promise<ReadResource> {
  // The person asked for it, so never return an earlier copy.
  const { contents } = await client.readResource(
    { uri },
    { timeout: CONNECT_TIMEOUT_MS, cacheMode: 'bypass' },
  )
  const texts = contents.flatMap((part) => ('text' in part ? [part] : []))
  const [first] = texts.length > 0 ? texts : contents
  if (first === undefined) throw appError('mcp_resource_empty', { server })
  const name = fileName(first.uri, first.mimeType)
  if (texts.length === 0 && 'blob' in first)
    return { name, content: Buffer.from(first.blob, 'base64') }
  const text =
    texts.length === 1
      ? (texts[0]?.text ?? '')
      : texts.map((part) => `# ${part.uri}\n\n${part.text}`).join('\n\n')
  if (text === '') throw appError('mcp_resource_empty', { server })
  return { name, content: Buffer.from(text, 'utf8') }
}

/** Types whose reader depends on the extension, and text types that people open by it. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/html': 'html',
  'text/csv': 'csv',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
}

/** The last part of the address, used as a label and never as a path. */
function fileName(uri: string, mime: string | undefined): string {
  const [path = ''] = uri.split(/[?#]/)
  const last = decoded(path.split(/[/:\\]/).findLast((part) => part !== '') ?? '').slice(-200)
  const name = last === '' ? 'resource' : last
  const extension = EXTENSIONS[mime?.split(';')[0]?.trim().toLowerCase() ?? '']
  return extension === undefined || /\.[A-Za-z0-9]{1,8}$/.test(name) ? name : `${name}.${extension}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // The text is not percent-encoded after all.
    return text
  }
}
