// The subcommands: doctor, config, service, migrate, backup, restore, rollback, move, export, admin.

import { installationOf } from './commands/describe-installation.ts'
import type { LoadedConfig } from './config/load.ts'
import { databaseSettings } from './config/settings.ts'
import { runDoctor } from './doctor/run-doctor.ts'
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
  /** Options with a value, without their dashes. */
  options?: readonly string[]
  run(context: CommandContext): Promise<CommandResult>
}

/** What a command works on. */
export interface CommandContext {
  loaded: LoadedConfig
  operands: readonly string[]
  /** The given `flags`. */
  flags: ReadonlySet<string>
  /** The values of the given `options`. */
  options: ReadonlyMap<string, string>
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
    async run({ loaded, webRoot }) {
      const { config } = loaded
      const { configuration } = installationOf(loaded)
      const { formatFinding } = await import('./doctor/finding.ts')
      const { readEnvironmentKeys } = await import('./llm/environment-keys.ts')
      const { tryMcpServers } = await import('./doctor/mcp-servers.ts')
      const findings = await runDoctor(config, {
        webRoot,
        secretKeys: keysFromEnvironment(),
        environmentKeys: readEnvironmentKeys(process.env),
        mcpServers: () => tryMcpServers(config),
      })
      const lines = [`[ ok ] configuration: ${configuration}`, ...findings.map(formatFinding)]
      const count = findings.filter(({ state }) => state === 'fail').length
      return count === 0
        ? done(...lines, 'All required checks passed.')
        : failed(...lines, `${count} of ${findings.length + 1} checks failed.`)
    },
  },

  config: {
    usage: '[--changed]',
    summary:
      'prints every key of the configuration, its value and where that comes from; secrets are hidden',
    operands: 0,
    flags: ['changed'],
    async run({ loaded, flags }) {
      const { describeConfig } = await import('./commands/config.ts')
      const lines = describeConfig(loaded, { changedOnly: flags.has('changed') })
      return done(...(lines.length === 0 ? ['# all keys have their defaults'] : lines))
    },
  },

  service: {
    usage: 'install | remove',
    summary:
      'starts the server with this machine as a service of this user (systemd, launchd), or stops that',
    operands: 1,
    async run({ loaded, operands: [what] }) {
      const { installService, removeService } = await import('./commands/service.ts')
      try {
        if (what === 'install')
          return done(...(await installService(loaded, process.argv[1] ?? 'nanoclaw')))
        return what === 'remove' ? done(...(await removeService())) : failed(...usageOf('service'))
      } catch (error) {
        return failed(errorText(error))
      }
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
        const notes: string[] = []
        const database = await connect(databaseSettings(config), {
          log: { info: (_, message) => void notes.push(message), warn() {} },
        })
        await database.close()
        return done(...notes, 'The database is up to date.')
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
      const { backUp } = await import('./commands/backup.ts')
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
    usage: '[--partial] <folder> | --bucket [--partial] [name]',
    summary:
      'replaces the installation by a backup, after verifying all of it; stop the server first; --bucket lists those in backup.s3, or takes one',
    operands: 1,
    flags: ['partial', 'bucket'],
    async run({ loaded: { config }, operands: [source], flags }) {
      const { restore } = await import('./commands/backup.ts')
      const { bucketBackups, restoreFromBucket } = await import('./commands/backup-bucket.ts')
      const isFromBucket = flags.has('bucket')
      try {
        if (source === undefined)
          return isFromBucket
            ? done(...(await bucketBackups(config)))
            : failed(...usageOf('restore'))
        const { lines, isComplete } = await (isFromBucket ? restoreFromBucket : restore)(
          config,
          source,
          { keys: keysFromEnvironment(), isPartial: flags.has('partial') },
        )
        return isComplete
          ? done(`Restored ${source}.`)
          : done(`Restored ${source}, but not everything:`, ...lines)
      } catch (error) {
        return failed(errorText(error))
      }
    },
  },

  rollback: {
    usage: '[--partial] [copy]',
    summary:
      'goes back to the copy of the database that an upgrade made; stop the server first, then start the earlier version',
    operands: 1,
    flags: ['partial'],
    async run({ loaded: { config }, operands: [copy], flags }) {
      const { rollBack } = await import('./commands/rollback.ts')
      try {
        return done(
          ...(await rollBack(config, {
            copy,
            isPartial: flags.has('partial'),
            keys: keysFromEnvironment(),
          })),
        )
      } catch (error) {
        return failed(errorText(error))
      }
    },
  },

  move: {
    usage: '--to <postgresql://… | file>',
    summary:
      'copies the database into an empty one of the other kind, verified table by table; stop the server first',
    operands: 0,
    options: ['to'],
    async run({ loaded: { config }, options }) {
      const to = options.get('to')
      if (to === undefined || to === '') return failed(...usageOf('move'))
      const { move } = await import('./commands/move.ts')
      try {
        return done(...(await move(config, to, (line) => console.error(line))))
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
      const { exportOffline } = await import('./commands/export.ts')
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
      const { ADMIN_USAGE, administer } = await import('./commands/admin.ts')
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
    'The configuration is the file that NANOCLAW_CONFIG names, else config.yml in the current folder, in the folder that',
    'NANOCLAW_DATA names, beside the program, or in `data` there, else defaults. Its relative paths are relative to the file.',
  ]
}
