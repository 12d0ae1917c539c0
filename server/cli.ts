// The subcommands: doctor, migrate, backup, restore, export, admin.
import { databaseSettings, doctorSettings } from './composition/settings.ts'
import type { LoadedConfig } from './config/load.ts'
import { errorText } from './errors.ts'

/** The output and exit status of a command. */
export interface CommandResult {
  lines: readonly string[]
  status: 0 | 1
}

/** A command of `nanoclaw`. */
export interface Command {
  /** Its operands and options, one form per line, without `nanoclaw` and the name. */
  usage: string
  summary: string
  /** The largest number of operands. */
  operands: number
  /** Options without a value, without their dashes. */
  flags?: readonly string[]
  run(context: CommandContext): Promise<CommandResult>
}

/** What a command works on. */
export interface CommandContext {
  loaded: LoadedConfig
  operands: readonly string[]
  /** The given `flags`. */
  flags: ReadonlySet<string>
  /** Folder of the built page. */
  webRoot: string
}

const done = (...lines: string[]): CommandResult => ({ lines, status: 0 })
const failed = (...lines: string[]): CommandResult => ({ lines, status: 1 })

const keysFromEnvironment = () => ({
  configured: process.env.NANOCLAW_SECRET_KEY,
  previous: process.env.NANOCLAW_SECRET_KEY_PREVIOUS,
})

/** The commands by name. Each loads its modules only when it is called. */
export const commands: Readonly<Record<string, Command>> = {
  doctor: {
    usage: '',
    summary: 'checks everything that a start needs, changes nothing, and says what to fix',
    operands: 0,
    async run({ loaded: { config, file }, webRoot }) {
      const { runChecks } = await import('./doctor/doctor.ts')
      const { formatFinding } = await import('./doctor/finding.ts')
      const { installationPlaces } = await import('./composition/storage/places.ts')
      const { tryMcpServers } = await import('./composition/tools/checked-mcp-servers.ts')
      const { inspectSecrets } = await import('./composition/sealed-secrets.ts')
      const { inspectOpenRegistration } = await import('./composition/open-registration.ts')
      const findings = await runChecks({
        ...doctorSettings(config, webRoot),
        places: installationPlaces(config),
        inspectSecrets: () => inspectSecrets(config, keysFromEnvironment()),
        inspectRegistration: () => inspectOpenRegistration(config),
        mcpServers: () => tryMcpServers(config),
      })
      const lines = [
        `[ ok ] configuration: ${file ?? 'no file, all keys have their defaults'}`,
        ...findings.map(formatFinding),
      ]
      const count = findings.filter(({ state }) => state === 'fail').length
      return count === 0
        ? done(...lines, 'All required checks passed.')
        : failed(...lines, `${count} of ${findings.length + 1} checks failed.`)
    },
  },

  migrate: {
    usage: '',
    summary: 'creates the tables, or upgrades those of an older version; the start does so, too',
    operands: 0,
    async run({ loaded: { config } }) {
      const { connect } = await import('./db/connect.ts')
      try {
        // Connecting applies the migrations, one process at a time.
        const database = await connect(databaseSettings(config), {
          log: { info() {}, warn() {} },
        })
        await database.close()
        return done('The database is up to date.')
      } catch (error) {
        return failed(errorText(error))
      }
    },
  },

  backup: {
    usage: '[folder]',
    summary: 'copies the whole installation into a new folder, also while the server runs',
    operands: 1,
    async run({ loaded: { config }, operands: [target] }) {
      const { backUp } = await import('./composition/commands/backup.ts')
      const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
      try {
        const { lines } = await backUp(
          config,
          target ?? `nanoclaw-backup-${stamp}`,
          keysFromEnvironment(),
        )
        return done(...lines)
      } catch (error) {
        return failed(errorText(error))
      }
    },
  },

  restore: {
    usage: '[--partial] <folder>',
    summary:
      'replaces the installation by a backup, after verifying all of it; stop the server first',
    operands: 1,
    flags: ['partial'],
    async run({ loaded: { config }, operands: [source], flags }) {
      if (source === undefined) return failed(...usageOf('restore'))
      const { restore } = await import('./composition/commands/backup.ts')
      try {
        const isPartial = flags.has('partial')
        const { lines, isComplete } = await restore(config, source, {
          keys: keysFromEnvironment(),
          isPartial,
        })
        return isComplete
          ? done(`Restored ${source}.`)
          : done(`Restored ${source}, but not everything:`, ...lines)
      } catch (error) {
        return failed(errorText(error))
      }
    },
  },

  export: {
    usage: '[file] [user]',
    summary: 'writes the data of one user into an archive that any NanoClaw imports',
    operands: 2,
    async run({ loaded: { config }, operands: [target, username] }) {
      const { exportOffline } = await import('./composition/commands/export.ts')
      const file = target ?? `export-${new Date().toISOString().slice(0, 10)}.zip`
      try {
        const { conversations, projects, files } = await exportOffline(config, file, username)
        return done(
          `Wrote ${file}: ${conversations} conversations, ${projects} projects, ${files} attached files. Import it under “Settings → Your data”.`,
        )
      } catch (error) {
        return failed(errorText(error))
      }
    },
  },

  admin: {
    usage: '<what> [name] …',
    summary: 'lists and changes accounts, and rotates keys; `nanoclaw admin` lists what it can do',
    operands: 4,
    async run({ loaded: { config }, operands }) {
      const { ADMIN_USAGE, administer } = await import('./composition/commands/admin.ts')
      try {
        const lines = await administer(config, operands, keysFromEnvironment())
        return lines === null ? failed(ADMIN_USAGE) : done(...lines)
      } catch (error) {
        return failed(errorText(error))
      }
    },
  },
}

const START = {
  usage: '[--workers auto|<number>]',
  summary: 'starts the server; with --workers, several processes behind one port',
}

/** The lines of the help: of one command, or of all. */
export function usageOf(name?: string): string[] {
  const all: readonly (readonly [string, Pick<Command, 'usage' | 'summary'>])[] = [
    ['start', START],
    ...Object.entries(commands),
  ]
  const one = all.find(([known]) => known === name)
  if (one !== undefined)
    return [`Usage: nanoclaw ${one[0]} ${one[1].usage}`.trimEnd(), `${one[1].summary}.`]
  const width = Math.max(...all.map(([known, { usage }]) => known.length + usage.length)) + 1
  return [
    'Usage: nanoclaw <command>',
    '',
    ...all.map(
      ([known, { usage, summary }]) => `  ${`${known} ${usage}`.padEnd(width)}  ${summary}`,
    ),
    `  ${'--version'.padEnd(width)}  prints the version`,
    '',
    'The configuration is the file that NANOCLAW_CONFIG names, else config.yml in the current folder, else the one beside',
    'the program. Its relative paths are relative to the file.',
  ]
}
