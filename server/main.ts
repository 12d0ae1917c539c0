// The process: reads the configuration, then starts the server or runs a subcommand; handles signals and exit codes.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { z } from 'zod'
import packageJson from '../package.json' with { type: 'json' }
import type { Server } from './app.ts'
import { type Command, type CommandContext, commands, usageOf } from './cli.ts'
import { isPrimary, runWorkers, workersAskedFor } from './cluster/workers.ts'
import {
  describeInstallation,
  installationOf,
  unknownVariable,
} from './commands/describe-installation.ts'
import { ConfigError, type LoadedConfig, loadConfig } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { appsPort } from './config/settings.ts'
import { AppError, errorText } from './errors.ts'
import { openDiskReserve } from './lib/disk-reserve.ts'
import { localUrl } from './lib/local-url.ts'
import { createProcessLog } from './lib/process-log.ts'
import { applyProxies, ProxyError, processProxies } from './lib/proxies.ts'
import { createRedactor, secretsIn } from './lib/redact.ts'

/** What Node's errors of the system say beside their message. */
const SystemFault = z
  .object({
    code: z.string(),
    syscall: z.string(),
    path: z.string(),
    port: z.number(),
    address: z.string(),
  })
  .partial()

const EXIT_CONFIG = 2
const EXIT_FAILED = 1
/** Time for open connections to close after the drain. */
const CLOSE_MS = 5000
/**
 * Under `npm start`, a signal to the process group (from systemd or a terminal) arrives twice: once directly and once
 * forwarded by npm. Signals within this time of the first count as the same signal.
 */
const SAME_SIGNAL_MS = 500
/** The process exits immediately, as after `kill -9`, so that it cannot overwrite anything of the new owner. */
const STORE_TAKEN =
  'Lost the connection that held the database lock, and another NanoClaw process now owns the database. Exiting.'
const isFromSources = import.meta.url.endsWith('.ts')
const webRoot = fileURLToPath(new URL(isFromSources ? '../dist/web' : '../web', import.meta.url))
const installation = fileURLToPath(new URL(isFromSources ? '..' : '../..', import.meta.url))

type Log = Logger

/** Filters everything that this process writes to the log and the console. */
const redactor = createRedactor()

// By default, this signal opens the inspector, through which any local program could run code. A listener disables that.
process.on('SIGUSR1', () => {})

// The live heap is small. By default, V8 lets garbage grow to a multiple of it before collecting, which doubles the memory
// of many concurrent streams. With this flag it collects when the heap has grown by about a third.
setFlagsFromString('--heap-growing-percent=30')

// Most objects created at the start stay, so a larger young generation does not help; but V8 would let it grow to 32 MB and
// keep that size. It may grow once the server is ready.
setFlagsFromString('--semi-space-growth-factor=1')

// A start runs most code once or twice: optimizing that costs more than it saves (decision 0018).
setFlagsFromString('--no-opt')

await run()

async function run(): Promise<void> {
  const [first = 'start', ...rest] = process.argv.slice(2)
  // Without a command, as in services of earlier versions, the server starts.
  const [name, values] = first === '--workers' ? ['start', [first, ...rest]] : [first, rest]
  if (['--help', '-h', 'help'].includes(name)) printAndExit(usageOf(rest[0]))
  if (name === '--version') printAndExit([packageJson.version])
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (name !== 'start' && command === undefined)
    endWith(EXIT_CONFIG, [
      `Unknown command ${JSON.stringify(name)}. Available: start, ${Object.keys(commands).join(', ')}. See \`nanoclaw --help\`.`,
    ])
  if (values.includes('--help')) printAndExit(usageOf(name))
  try {
    const loaded = loadConfig(process.env, { current: process.cwd(), installation })
    redactor.add(secretsIn(loaded.config))
    redactor.add((await applyProxies()).secrets)
    if (command !== undefined) await runCommand(loaded, name, command, values)
    else await start(loaded, values)
  } catch (error) {
    if (error instanceof ConfigError) endWith(EXIT_CONFIG, error.faults)
    if (error instanceof ProxyError) endWith(EXIT_CONFIG, [error.message])
    else endWith(EXIT_FAILED, [startFault(error)])
  }
}

async function start(loaded: LoadedConfig, values: readonly string[]): Promise<void> {
  const workers = workersAskedFor(values)
  if (workers === null && values.length > 0) endWith(EXIT_CONFIG, usageOf('start'))
  if (workers !== null && isPrimary) await serveOnCores(loaded.config, workers)
  else await serve(loaded)
}

/** Runs several instances on this machine; they share the store as instances on several machines would. */
async function serveOnCores(config: Config, workers: number | 'invalid'): Promise<never> {
  if (workers === 'invalid')
    endWith(EXIT_CONFIG, ['--workers: expected `auto` or a number of processes'])
  if (config.db_type === 'sqlite' || config.redis_url === undefined)
    endWith(EXIT_CONFIG, [
      `--workers: several processes require db_type: postgresql and redis_url; found db_type: ${config.db_type}${config.redis_url === undefined ? ' without redis_url' : ''}. Start without --workers, or see docs/scaling.md.`,
    ])
  return process.exit(await runWorkers(workers, (line) => console.error(redactor.redact(line))))
}

/** Prints the result on standard output, and which installation it is about on standard error. */
async function runCommand(
  loaded: LoadedConfig,
  name: string,
  command: Command,
  values: readonly string[],
): Promise<void> {
  const given = readArguments(name, command, values)
  for (const line of describeInstallation(loaded)) console.error(redactor.redact(line))
  const { lines, status } = await command.run({ loaded, ...given, webRoot })
  for (const line of lines) console.log(redactor.redact(line))
  process.exit(status)
}

function readArguments(
  name: string,
  { flags = [], options = [], operands: most }: Command,
  values: readonly string[],
): Pick<CommandContext, 'operands' | 'flags' | 'options'> {
  try {
    const { positionals, values: given } = parseArgs({
      args: [...values],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' as const }])),
        ...Object.fromEntries(options.map((option) => [option, { type: 'string' as const }])),
      },
    })
    const texts = Object.entries(given).flatMap(([option, value]) =>
      typeof value === 'string' ? [[option, value] as const] : [],
    )
    if (positionals.length <= most)
      return {
        operands: positionals,
        flags: new Set(Object.keys(given).filter((flag) => given[flag] === true)),
        options: new Map(texts),
      }
  } catch {
    // An unknown option: the usage says which ones exist.
  }
  return endWith(EXIT_CONFIG, usageOf(name))
}

function printAndExit(lines: readonly string[]): never {
  for (const line of lines) console.log(line)
  process.exit(0)
}

async function serve(loaded: LoadedConfig): Promise<void> {
  const { config } = loaded
  const log = createProcessLog({ level: config.log_level, format: config.log_format }, redactor)
  const ending = createEnding(config.shutdown_grace * 1000, log)
  const reserve = await openDiskReserve(config.data_dir, log)
  // Loaded only now, so that configuration errors are reported at once.
  const { createServer } = await import('./app.ts')
  const { readEnvironmentKeys } = await import('./llm/environment-keys.ts')
  const server = await createServer({
    config,
    log,
    redactor,
    webRoot,
    disk: reserve,
    secretKeys: {
      configured: process.env.NANOCLAW_SECRET_KEY,
      previous: process.env.NANOCLAW_SECRET_KEY_PREVIOUS,
    },
    environmentKeys: readEnvironmentKeys(process.env),
    onStoreTaken: () => endWith(EXIT_FAILED, [STORE_TAKEN]),
  })
  ending.server = server
  await server.app.listen({ host: config.host, port: config.backend_port, backlog: 2048 })
  await listenForApps(server, log)
  reserve.keep()
  setFlagsFromString('--opt')
  void server.toolsReady.finally(() => setFlagsFromString('--semi-space-growth-factor=2'))
  const proxies = processProxies().shown
  log.info(
    {
      version: packageJson.version,
      ...installationOf(loaded),
      address: ownUrl(config, server),
      ...(config.public_url === undefined ? {} : { public_url: config.public_url }),
      ...(proxies.length === 0 ? {} : { proxies }),
    },
    'NanoClaw has started',
  )
  for (const unknown of loaded.unknownVariables) log.warn(unknownVariable(unknown))
  console.log(`NanoClaw is ready: ${shownUrl(config, server)}`)
  if (server.setupPath !== null)
    console.log(
      `Create the administrator's account (this link works once): ${(config.public_url ?? ownUrl(config, server)).replace(/\/+$/, '')}${server.setupPath}`,
    )
}

/**
 * Opens the port of apps. If it is taken although nobody has chosen it, the server starts without it: the page then shows
 * single files by itself.
 */
async function listenForApps({ appsServer, config }: Server, log: Log): Promise<void> {
  const port = appsPort(config)
  if (appsServer === null || port === null) return
  try {
    await appsServer.listen({ host: config.host, port, backlog: 2048 })
  } catch (error) {
    if (config.apps.port !== undefined) throw error
    log.warn({ port, err: error }, 'the port for apps cannot be used; set apps.port to another one')
  }
}

/** The URL of this server on this machine. */
function ownUrl(config: Config, server: Server): string {
  const address = server.app.addresses()[0]
  return localUrl(config.host, typeof address === 'object' ? address.port : config.backend_port)
}

/** The URLs to open in a browser. */
function shownUrl(config: Config, server: Server): string {
  const local = ownUrl(config, server)
  return config.public_url === undefined ? local : `${local} (${config.public_url})`
}

/** A message for the operator. */
function startFault(error: unknown): string {
  if (isFull(error))
    return 'The disk of data_dir is full. Free a few megabytes there and start again; then the server runs on what it keeps back, and you can delete more.'
  if (error instanceof AppError) return error.message
  if (!(error instanceof Error)) return errorText(error)
  const { code, syscall, path, port, address } = SystemFault.safeParse(error).data ?? {}
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${address} is already in use. Stop the other program, or set another port: PORT=3001 nanoclaw start`
  if (code === 'EACCES' && port !== undefined)
    return `This user is not allowed to use port ${port}. Choose a port from 1024 up: PORT=3000 nanoclaw start`
  const isUnusable = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code ?? '')
  // A folder that cannot be created: a file or a link to nothing has its name, or the path is too long.
  if (path !== undefined && (isUnusable || syscall === 'mkdir'))
    return `${path} cannot be used by this user (${code}). Check its owner and permissions, or set data_dir and workspace_root to other folders.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `The address ${address ?? 'in `host`'} does not belong to this machine. Check the configuration key \`host\`.`
  return error.stack ?? error.message
}

/** Whether the cause of an error is a full disk. */
function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = SystemFault.safeParse(error).data ?? {}
  return ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(code ?? '') || isFull(error.cause)
}

function endWith(status: number, lines: readonly string[]): never {
  for (const line of lines) console.error(redactor.redact(line))
  process.exit(status)
}

/**
 * Handles the end of the process. A signal drains and exits with 0, a second signal exits at once. An uncaught exception
 * drains and exits with 1: what it interrupted is unknown, and the next start recovers everything. An unhandled rejection
 * interrupts nothing, so it is only logged.
 */
function createEnding(graceMs: number, log: Log): { server: Server | null } {
  const ending: { server: Server | null } = { server: null }
  let since: number | null = null

  const end = async (status: number): Promise<void> => {
    since = performance.now()
    // If the server was not created yet, there is nothing to drain.
    if (ending.server === null) process.exit(status)
    try {
      await ending.server.drain(graceMs)
      // A client that does not read its last response must not keep the process alive.
      setTimeout(() => process.exit(status), CLOSE_MS).unref()
      await ending.server.close()
      process.exit(status)
    } catch (error) {
      log.error({ err: error }, 'the server did not close cleanly')
      process.exit(EXIT_FAILED)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (since === null) {
        log.info({ signal, graceMs }, 'shutting down')
        void end(0)
      } else if (performance.now() - since > SAME_SIGNAL_MS) process.exit(EXIT_FAILED)
    })
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception')
    if (since === null) void end(EXIT_FAILED)
  })
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))
  return ending
}
