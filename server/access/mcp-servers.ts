// The known MCP servers: those of the configuration and those that administrators added, enabled or not.
import { z } from 'zod'
import type { Writer } from '../db/database.ts'
import type { McpServerRepository, StoredMcpServer } from '../db/repositories/mcp-servers.ts'
import { AppError, appError } from '../errors.ts'
import type { PatchMcpServerBody } from '../protocol/admin/mcp-server.ts'
import { McpServerSettings } from '../protocol/models/mcp.ts'

interface KnownMcpServer {
  name: string
  source: 'config' | 'store'
  isEnabled: boolean
  /** Null if the stored settings cannot be read, for example because the server's secret key has changed. */
  settings: McpServerSettings | null
  /** The names of its tools, as models see them, that are neither sent nor called. */
  disabledTools: readonly string[]
}

/** A write that is part of a change. */
type InChange = (tx: Writer) => Promise<void>

/** Settings from an administrator: null clears a field, an absent field stays unchanged. */
type GivenMcpSettings = Omit<PatchMcpServerBody, 'enabled' | 'tools'>

/** The configured and the stored MCP servers. */
export interface McpServerCatalog {
  /** Servers of the configuration first. Reads memory only. */
  list(): readonly KnownMcpServer[]
  /** The settings of the enabled servers, by name. */
  active(): Readonly<Record<string, McpServerSettings>>
  /** The names of the tools of enabled servers that are switched off. */
  disabledTools(): ReadonlySet<string>
  /** Reads the stored servers again, because another instance may have changed them. */
  reload(): Promise<void>
  /** Calls `listener` each time the servers were read. */
  onChange(listener: () => void): void
  /** `after` is part of the change, here and below. @throws AppError `mcp_server_name_taken`, `mcp_url_missing`. */
  add(name: string, given: GivenMcpSettings, isEnabled: boolean, after: InChange): Promise<void>
  /** Of a configured server, only the switches of it and its tools can change. @throws AppError. */
  change(name: string, given: PatchMcpServerBody, after: InChange): Promise<void>
  /** @throws AppError if no added server has this name. */
  remove(name: string, after: InChange): Promise<void>
  /** The settings for testing a known server with these changes, or a new one. @throws AppError as above. */
  settingsToTry(name: string, given: GivenMcpSettings): McpServerSettings
}

interface Box {
  seal(text: string, purpose: string): string
  open(sealed: string, purpose: string): string
}

/** Binds sealed settings to the name of their server, so that no other row can use them. */
export const mcpServerPurpose = (name: string): string => `mcp server ${name}`

/** The settings, and those of their values that no log may contain: any header may be secret, whatever its name. */
const Sealed = z.object({ settings: McpServerSettings, credentials: z.array(z.string()) })

/** Reads the stored servers. */
export async function loadMcpServers(
  configured: Readonly<Record<string, McpServerSettings>>,
  repository: McpServerRepository,
  box: Box,
): Promise<McpServerCatalog> {
  const listeners: (() => void)[] = []
  let known: readonly KnownMcpServer[] = []
  let reading = Promise.resolve()

  const seal = (name: string, settings: McpServerSettings): string => {
    const credentials = Object.values(settings.headers ?? {})
    return box.seal(JSON.stringify({ settings, credentials }), mcpServerPurpose(name))
  }
  const open = (name: string, sealed: string): McpServerSettings | null => {
    try {
      const text = box.open(sealed, mcpServerPurpose(name))
      return Sealed.safeParse(JSON.parse(text)).data?.settings ?? null
    } catch (error) {
      if (error instanceof AppError && error.reason === 'secret_unreadable') return null
      throw error
    }
  }
  const combine = (stored: readonly StoredMcpServer[]): KnownMcpServer[] => {
    const switches = new Map(stored.map((server) => [server.name, server]))
    return [
      ...Object.entries(configured).map(([name, settings]) => ({
        name,
        source: 'config' as const,
        isEnabled: switches.get(name)?.isEnabled ?? true,
        settings,
        disabledTools: switches.get(name)?.disabledTools ?? [],
      })),
      ...stored.flatMap(({ name, sealedSettings, isEnabled, disabledTools }) =>
        sealedSettings === null || isConfigured(name)
          ? []
          : [
              {
                name,
                source: 'store' as const,
                isEnabled,
                settings: open(name, sealedSettings),
                disabledTools: disabledTools ?? [],
              },
            ],
      ),
    ]
  }
  const isConfigured = (name: string): boolean => Object.hasOwn(configured, name)

  /** One at a time, so that the last read determines what is known. */
  const reload = (): Promise<void> => {
    const read = reading.then(async () => {
      known = combine(await repository.list())
      for (const listener of listeners) listener()
    })
    reading = read.catch(() => undefined)
    return read
  }

  await reload()
  return {
    list: () => known,
    active: () =>
      Object.fromEntries(
        known.flatMap(({ name, isEnabled, settings }) =>
          isEnabled && settings !== null ? [[name, settings]] : [],
        ),
      ),
    disabledTools: () =>
      new Set(known.flatMap(({ isEnabled, disabledTools }) => (isEnabled ? disabledTools : []))),
    reload,
    onChange: (listener) => void listeners.push(listener),
    async add(name, given, isEnabled, after) {
      const sealedSettings = seal(name, merge(null, given))
      const server = { name, sealedSettings, isEnabled, disabledTools: null }
      if (isConfigured(name) || !(await repository.create(server, after)))
        throw appError('mcp_server_name_taken')
      await reload()
    },
    async change(name, { enabled, tools = {}, ...given }, after) {
      if (isConfigured(name)) {
        if (isAnyGiven(given)) throw appError('mcp_server_configured')
        await repository.switchConfigured(
          name,
          ({ isEnabled, disabledTools }) => ({
            isEnabled: enabled ?? isEnabled,
            disabledTools: switched(disabledTools, tools),
          }),
          after,
        )
      } else {
        const isChanged = await repository.change(
          name,
          (before) => {
            // The switch of a server that is no longer in the configuration.
            if (before.sealedSettings === null) throw appError('mcp_server_not_found')
            return {
              isEnabled: enabled ?? before.isEnabled,
              disabledTools: switched(before.disabledTools, tools),
              sealedSettings: isAnyGiven(given)
                ? seal(name, merge(open(name, before.sealedSettings), given))
                : before.sealedSettings,
            }
          },
          after,
        )
        if (!isChanged) throw appError('mcp_server_not_found')
      }
      await reload()
    },
    async remove(name, after) {
      if (isConfigured(name)) throw appError('mcp_server_configured')
      if (!(await repository.remove(name, after))) throw appError('mcp_server_not_found')
      await reload()
    },
    settingsToTry(name, given) {
      const before = known.find((server) => server.name === name)
      if (before?.source !== 'config') return merge(before?.settings ?? null, given)
      if (isAnyGiven(given)) throw appError('mcp_server_configured')
      return before.settings ?? merge(null, given)
    },
  }
}

/** A server that renames its tools again and again must not make this list grow forever. */
const MAX_DISABLED = 1_000

/** The switched-off tools after a change; null if there are none. */
function switched(
  before: readonly string[] | null,
  tools: Readonly<Record<string, boolean>>,
): readonly string[] | null {
  const off = new Set(before)
  for (const [name, isOn] of Object.entries(tools))
    if (isOn) off.delete(name)
    else off.add(name)
  const names = [...off].sort()
  return names.length === 0 ? null : names.slice(-MAX_DISABLED)
}

const isAnyGiven = (given: object): boolean =>
  Object.values(given).some((value) => value !== undefined)

/** The settings after a change, validated as a whole. */
function merge(before: McpServerSettings | null, given: GivenMcpSettings): McpServerSettings {
  const url = given.url ?? before?.url
  if (url === undefined) throw appError('mcp_url_missing')
  const isElsewhere =
    before?.url !== undefined && new URL(url).origin !== new URL(before.url).origin
  // Otherwise, an administrator could have stored credentials sent to a server of their own.
  if (isElsewhere) {
    const hasHeaders = Object.keys(before.headers ?? {}).length > 0
    const hasSecret = before.oauth?.client_secret !== undefined
    if ((hasHeaders && given.headers === undefined) || (hasSecret && given.oauth === undefined))
      throw appError('mcp_headers_missing')
  }
  const client = isElsewhere ? undefined : before?.oauth
  const keepsSecret =
    client?.client_secret !== undefined &&
    given.oauth?.client_secret === undefined &&
    given.oauth?.client_id === client.client_id
  const oauth = keepsSecret
    ? { oauth: { ...given.oauth, client_secret: client.client_secret } }
    : {}
  const entries = Object.entries({ ...given, ...oauth }).filter(([, value]) => value !== undefined)
  const merged = { ...before, ...Object.fromEntries(entries) }
  return McpServerSettings.parse(
    Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null)),
  )
}
