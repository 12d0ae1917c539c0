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
      const { inspectSecrets } = await import('./composition/sealed-secrets.ts')
      const findings = await runChecks({
        ...doctorSettings(config, webRoot),
        places: installationPlaces(config),
        inspectSecrets: () => inspectSecrets(config, keysFromEnvironment()),
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
    usage: '[file]',
    summary: 'copies the database and the attached files, also while the server runs',
    operands: 1,
    async run({ loaded: { config }, operands: [target] }) {
      const { existsSync } = await import('node:fs')
      const { backupDatabase } = await import('./db/backup.ts')
      const { backupBlobs, blobsOfBackup } = await import('./files/backup.ts')
      const extension = config.db_type === 'sqlite' ? 'db' : 'jsonl'
      const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
      const file = target ?? `backup-${stamp}.${extension}`
      try {
        const { blobsForCommands } = await import('./composition/storage/blobs.ts')
        const { markedElsewhere } = await import('./composition/storage/places.ts')
        const fault = await markedElsewhere(config)
        if (fault !== null) return failed(`${fault.detail}. ${fault.advice}`)
        const copyBlobs = async () =>
          await backupBlobs(await blobsForCommands(config), blobsOfBackup(file))
        // An existing backup of this name is refused below.
        const early = existsSync(file) ? { bytes: 0 } : await copyBlobs()
        const report = await backupDatabase(databaseSettings(config), file)
        const late = await copyBlobs()
        return done(
          `Wrote ${report.file} (${report.bytes} bytes) and ${blobsOfBackup(file)} (${early.bytes + late.bytes} bytes). Store them together with the folder ${config.workspace_root} and the secret key (NANOCLAW_SECRET_KEY, or secret.key in ${config.data_dir}).`,
        )
      } catch (error) {
        return failed(errorText(error))
      }
    },
  },

  restore: {
    usage: '<file>',
    summary: 'replaces the database by that of a backup and adds its files; stop the server first',
    operands: 1,
    async run({ loaded: { config }, operands: [source] }) {
      if (source === undefined) return failed(...usageOf('restore'))
      const { restoreDatabase } = await import('./db/backup.ts')
      const { claimStore } = await import('./owner/owner.ts')
      try {
        const owner = await claimStore(databaseSettings(config), {
          instance: 'restore',
          log: { info() {}, warn() {} },
          // Everything is restored in one transaction, so an interrupted restore changes nothing.
          onTaken() {},
        })
        try {
          const { blobsOfBackup, restoreBlobs } = await import('./files/backup.ts')
          // Blobs first, because blobs without rows do no harm.
          const { blobsForCommands } = await import('./composition/storage/blobs.ts')
          await restoreBlobs(blobsOfBackup(source), await blobsForCommands(config))
          const { idOfDatabase, settleRestored } = await import('./composition/storage/places.ts')
          const replaced = await idOfDatabase(config)
          await restoreDatabase(databaseSettings(config), source)
          const fault = await settleRestored(config, replaced)
          return fault === null
            ? done(`Restored ${source}.`)
            : done(
                `Restored ${source}. The next start is refused: ${fault.detail}. ${fault.advice}`,
              )
        } finally {
          await owner.release()
        }
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
