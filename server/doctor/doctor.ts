// `nanoclaw doctor`: checks everything that a start needs and says how to fix problems.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Redis } from 'ioredis'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectDatabase, inspectSetting } from '../db/inspect.ts'
import { NO_REFERENCES } from '../db/repositories/installation.ts'
import { errorText } from '../errors.ts'
import { type CopyPlaces, replacedCopies } from '../files/replaced-copies.ts'
import type { EmbeddingSettings } from '../knowledge/embeddings.ts'
import type { RerankSettings } from '../knowledge/rerank-api.ts'
import { checkMailServer, type SmtpSettings } from '../messaging/mailer.ts'
import {
  INSTALLATION_KEY,
  InstallationId,
  installationFault,
  type Place,
  type PlaceFault,
} from '../owner/installation.ts'
import type { ModelSettings } from '../protocol/models/catalog.ts'
import { type CheckedMcpServer, checkMcp } from './check-mcp.ts'
import { type BackupSettings, checkBackups } from './checks/backups.ts'
import { type BlobPlace, checkBlobs, checkProjects, checkSecrets } from './checks/blobs.ts'
import { checkClock } from './checks/clock.ts'
import { checkDatabase } from './checks/database.ts'
import { checkEmbeddings } from './checks/embeddings.ts'
import { checkFolder, checkNode, checkPage } from './checks/host.ts'
import { checkProviders } from './checks/providers.ts'
import { checkPublicAddress } from './checks/public-address.ts'
import { checkReranker } from './checks/reranker.ts'
import { checkPython, checkShell, type PythonSettings } from './checks/sandbox.ts'
import { type Finding, failedBy, fine } from './finding.ts'

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
  /** The address that browsers use; null if not configured. */
  publicUrl: string | null
  /** Where the files of the installation are. */
  places: readonly Place[]
  /** Why the attached files cannot be where they are configured; null if they can. */
  filesFault: () => Promise<PlaceFault | null>
  /** Folder of the built page. */
  webRoot: string
  models: readonly ModelSettings[]
  /** Null if not configured. */
  embeddings: EmbeddingSettings | null
  /** Null if not configured. */
  rerank: RerankSettings | null
  /** Null if not configured. */
  smtp: SmtpSettings | null
  /** The state of the MCP servers: of a running server its own, else that of one attempt to connect to each. */
  mcpServers: () => Promise<readonly CheckedMcpServer[]>
  python: PythonSettings
  shell: { enabled: boolean; network: boolean | 'host' }
  /** Copies of what was replaced. */
  copies: Parameters<typeof checkCopies>[0]
  backups: BackupSettings
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
    checkInstallation(settings),
    checkRedis(settings.redisUrl),
    checkPublicAddress(settings.publicUrl, settings.database),
    checkRegistration(settings.inspectRegistration),
    checkClock(settings.database, outsideClock(settings.models)),
    checkBackups(settings.backups, settings.database, settings),
    checkCopies(settings.copies),
    checkPage(settings.webRoot),
    checkProviders(settings.models),
    checkEmbeddings(settings.embeddings, settings.database),
    checkReranker(settings.rerank),
    checkMail(settings.smtp),
    checkMcp(settings.mcpServers),
    checkPython(settings.python, settings.dataDirectory),
    checkShell(settings.shell),
  ])
  return groups.flat()
}

/** A provider elsewhere, whose clock is another one; null if there is none. */
const outsideClock = (models: readonly ModelSettings[]): string | null =>
  models.find(({ api_url: url }) => url.startsWith('https:'))?.api_url ?? null

// Checks that the folders and the bucket belong to the database.

/**
 * Compares the markers of the places with the id of the database. Read-only. Faults of the database itself are reported
 * elsewhere.
 */
export async function checkInstallation({
  database: settings,
  places,
  filesFault,
}: Pick<DoctorSettings, 'database' | 'places' | 'filesFault'>): Promise<Finding[]> {
  const subject = 'installation'
  const differs = ({ detail, advice }: PlaceFault): Finding[] => {
    const params = { detail, advice }
    return [{ state: 'fail', code: 'installation_differs', params, subject, detail, advice }]
  }
  const isMissing = settings.dialect === 'sqlite' && !existsSync(resolve(settings.file))
  if (!isMissing && (await inspectDatabase(settings).catch(() => null)) === null) return []
  try {
    const stored = isMissing ? undefined : await inspectSetting(settings, INSTALLATION_KEY)
    const id = InstallationId.safeParse(stored).data?.id ?? null
    let isMarked = true
    for (const place of places) {
      if ((await place.marker()) === null) {
        isMarked = false
        continue
      }
      const fault = await installationFault([place], id, NO_REFERENCES)
      if (fault !== null) return differs(fault)
    }
    const elsewhere = isMissing ? null : await filesFault()
    if (elsewhere !== null) return differs(elsewhere)
    return [
      isMarked
        ? fine('installation_ok', subject, 'the folders belong to this database')
        : fine('installation_later', subject, 'the next start marks the folders'),
    ]
  } catch (error) {
    const reason = errorText(error)
    const params = { reason }
    return [{ state: 'warn', code: 'installation_unknown', params, subject, detail: reason }]
  }
}

// Checks that the configured Redis answers.

const REDIS_TIMEOUT_MS = 3_000

/** Returns no findings without `redis_url`: a single process needs no Redis. */
async function checkRedis(url: string | null): Promise<Finding[]> {
  if (url === null) return []
  const subject = 'Redis'
  const { host } = new URL(url)
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: REDIS_TIMEOUT_MS,
    commandTimeout: REDIS_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  let fault: unknown
  // Says more than the rejected promise; without a listener, the error would be printed.
  redis.on('error', (error: unknown) => {
    fault = error
  })
  try {
    await redis.connect()
    await redis.ping()
    return [fine('redis_ok', subject, `${host} responds`, { host })]
  } catch (error) {
    const reason = errorText(fault ?? error)
    return [
      {
        state: 'fail',
        code: 'redis_broken',
        params: { host, reason },
        subject,
        detail: `${host} does not respond (${reason})`,
        advice:
          'Start Redis, or correct redis_url. Until then, each instance counts limits alone, and streams of runs on other instances are read from the database.',
      },
    ]
  } finally {
    redis.disconnect()
  }
}

// Checks that the mail server can be reached and accepts the configured user.

const MAIL_TIMEOUT_MS = 8000

/** Returns no findings when none is configured. Sends nothing. */
export async function checkMail(smtp: SmtpSettings | null): Promise<Finding[]> {
  if (smtp === null) return []
  const subject = 'mail server'
  const host = `${smtp.host}:${smtp.port}`
  const failure = await checkMailServer(smtp, MAIL_TIMEOUT_MS)
  if (failure === null) return [fine('mail_ok', subject, `${host} responds`, { host })]
  const isCertificate = failure.reason.startsWith('delivery_mail_certificate')
  return [
    {
      state: 'fail',
      code: isCertificate ? 'mail_certificate' : 'mail_broken',
      params: { host, ...failedBy(failure) },
      subject,
      detail: `${host}: ${failure.message}`,
      advice: isCertificate
        ? 'Give the mail server a certificate that this machine trusts, or set NODE_EXTRA_CA_CERTS to a file with the certificate, and start again.'
        : 'Check smtp.host, port, user and password. Until then, no email is sent.',
    },
  ]
}

// Checks whether strangers on the internet can create accounts.

/** Returns a finding only if they can. `inspect` reads the host on which everybody can register; null if nobody can. */
async function checkRegistration(inspect: () => Promise<string | null>): Promise<Finding[]> {
  let host: string | null
  try {
    host = await inspect()
  } catch {
    return [] // the finding of the database says why
  }
  if (host === null) return []
  return [
    {
      state: 'warn',
      code: 'registration_open',
      params: { host },
      subject: 'registration',
      detail: `everybody who can reach ${host} can create an account and use the models`,
      advice:
        'Set registration: invite (or closed) in config.yml, or under Administration → Server, unless this is what you want.',
    },
  ]
}

// Lists the copies of what restores and upgrades replaced.

/** As many as are listed by name. */
const NAMED = 20

/** No finding without copies. */
export async function checkCopies({
  places,
  days,
}: {
  places: CopyPlaces
  /** Days after which they are removed; null for never. */
  days: number | null
}): Promise<Finding[]> {
  const copies = await replacedCopies(places)
  if (copies.length === 0) return []
  const names = `${copies
    .slice(0, NAMED)
    .map(({ path }) => path)
    .join(', ')}${copies.length > NAMED ? ', …' : ''}`
  const kept =
    days === null ? 'kept until you remove them' : `removed ${days} days after they were made`
  return [
    fine(
      days === null ? 'copies_kept' : 'copies',
      'copies of what was replaced',
      `${copies.length}, ${kept}: ${names}`,
      { count: copies.length, names, ...(days === null ? {} : { days }) },
    ),
  ]
}
