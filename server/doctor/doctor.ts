// `nanoclaw doctor`: checks everything that a start needs and says how to fix problems.

import type { DatabaseSettings } from '../db/database.ts'
import type { EmbeddingSettings } from '../knowledge/embeddings.ts'
import type { SmtpSettings } from '../messaging/mailer.ts'
import type { Place } from '../owner/installation.ts'
import type { ModelSettings } from '../protocol/models/catalog.ts'
import { type BlobPlace, checkBlobs, checkProjects, checkSecrets } from './check-blobs.ts'
import { checkCopies } from './check-copies.ts'
import { checkDatabase } from './check-database.ts'
import { checkEmbeddings } from './check-embeddings.ts'
import { checkFolder, checkNode, checkPage } from './check-host.ts'
import { checkInstallation } from './check-installation.ts'
import { checkMail } from './check-mail.ts'
import { type CheckedMcpServer, checkMcp } from './check-mcp.ts'
import { checkProviders } from './check-providers.ts'
import { checkRedis } from './check-redis.ts'
import { checkRegistration } from './check-registration.ts'
import { checkPython, checkShell, type PythonSettings } from './check-sandbox.ts'
import type { Finding } from './finding.ts'

/** The parts of the configuration that the doctor checks. */
export interface DoctorSettings {
  database: DatabaseSettings
  dataDirectory: string
  blobs: BlobPlace
  workspaceRoot: string
  /** Tries to open some stored secrets; `unreadable` names the kinds of those that could not be opened. */
  inspectSecrets: () => Promise<{ tried: number; unreadable: readonly string[] }>
  /** The host on which everybody on the internet can register; null if there is none. */
  inspectRegistration: () => Promise<string | null>
  /** Null if not configured. */
  redisUrl: string | null
  /** Where the files of the installation are. */
  places: readonly Place[]
  /** Folder of the built page. */
  webRoot: string
  models: readonly ModelSettings[]
  /** Null if not configured. */
  embeddings: EmbeddingSettings | null
  /** Null if not configured. */
  smtp: SmtpSettings | null
  /** The state of the MCP servers: of a running server its own, else that of one attempt to connect to each. */
  mcpServers: () => Promise<readonly CheckedMcpServer[]>
  python: PythonSettings
  shell: { enabled: boolean; network: boolean | 'host' }
  /** Copies of what was replaced. */
  copies: Parameters<typeof checkCopies>[0]
}

/** Runs all checks and returns the findings in print order. Changes nothing; never throws. */
export async function runChecks(settings: DoctorSettings): Promise<Finding[]> {
  const groups = await Promise.all([
    checkNode(),
    checkFolder('data folder', settings.dataDirectory),
    checkDatabase(settings.database),
    checkBlobs(settings.database, settings.blobs),
    checkProjects(settings.database, settings.workspaceRoot),
    checkSecrets(settings.database, settings.inspectSecrets),
    checkFolder('workspaces', settings.workspaceRoot),
    checkInstallation(settings.database, settings.places),
    checkRedis(settings.redisUrl),
    checkRegistration(settings.inspectRegistration),
    checkCopies(settings.copies),
    checkPage(settings.webRoot),
    checkProviders(settings.models),
    checkEmbeddings(settings.embeddings, settings.database),
    checkMail(settings.smtp),
    checkMcp(settings.mcpServers),
    checkPython(settings.python, settings.dataDirectory),
    checkShell(settings.shell),
  ])
  return groups.flat()
}
