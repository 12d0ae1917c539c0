// `nanoclaw service install|remove`: the server as a service of this user, started with the machine (systemd) or at sign-in (launchd).
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { LoadedConfig } from '../config/load.ts'
import { AppError, errorText } from '../errors.ts'

const NAME = 'nanoclaw'
const LABEL = 'nanoclaw.server'
/** Seconds that a stop may take beyond `shutdown_grace`, for open connections to close. */
const CLOSING_SECONDS = 20
/** The exit code of a wrong configuration: starting again would not help. */
const EXIT_CONFIG = 2

/** What a service starts, and where. */
interface Program {
  /** Absolute paths: Node, and the program that was called. */
  command: readonly [string, string, 'start']
  variables: Readonly<Record<string, string>>
  /** Where it starts; null for the default of the system. */
  folder: string | null
  stopSeconds: number
}

/** How services of a user are managed on one system. */
interface Manager {
  file: string
  /** Variables with secrets, such as JWT_SECRET; null if the system has no file for them. */
  secretsFile: string | null
  text(program: Program): string
  start: readonly (readonly [string, ...string[]])[]
  stop: readonly (readonly [string, ...string[]])[]
  note: string
}

/** A value in a unit of systemd. */
const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function systemd(): Manager {
  const folder = process.env.XDG_CONFIG_HOME || join(homedir(), '.config')
  const secretsFile = join(folder, NAME, 'environment')
  return {
    file: join(folder, 'systemd/user', `${NAME}.service`),
    secretsFile,
    text: ({ command, variables, folder: current, stopSeconds }) => `[Unit]
Description=NanoClaw
After=network-online.target

[Service]
ExecStart=${command.map(quoted).join(' ')}
${current === null ? '' : `WorkingDirectory=${current.replaceAll('%', '%%')}\n`}${Object.entries(
  variables,
)
  .map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`)
  .join('')}EnvironmentFile=-${secretsFile.replaceAll('%', '%%')}
Restart=on-failure
RestartPreventExitStatus=${EXIT_CONFIG}
TimeoutStopSec=${stopSeconds}

[Install]
WantedBy=default.target
`,
    start: [
      ['systemctl', '--user', 'daemon-reload'],
      ['systemctl', '--user', 'enable', NAME],
      // Also replaces a service that runs, when it is installed again.
      ['systemctl', '--user', 'restart', NAME],
    ],
    stop: [['systemctl', '--user', 'disable', '--now', NAME]],
    note: 'So that it runs while you are signed out: loginctl enable-linger. Its log: journalctl --user -u nanoclaw',
  }
}

function launchd(): Manager {
  const file = join(homedir(), 'Library/LaunchAgents', `${LABEL}.plist`)
  const log = join(homedir(), 'Library/Logs/nanoclaw.log')
  return {
    file,
    secretsFile: null,
    text: ({ command, variables, folder, stopSeconds }) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>${LABEL}</string>
<key>ProgramArguments</key><array>${command.map((part) => `<string>${escaped(part)}</string>`).join('')}</array>
<key>EnvironmentVariables</key><dict>${Object.entries(variables)
      .map(([name, value]) => `<key>${name}</key><string>${escaped(value)}</string>`)
      .join('')}</dict>
${folder === null ? '' : `<key>WorkingDirectory</key><string>${escaped(folder)}</string>\n`}<key>RunAtLoad</key><true/>
<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
<key>ExitTimeOut</key><integer>${stopSeconds}</integer>
<key>StandardErrorPath</key><string>${escaped(log)}</string>
<key>StandardOutPath</key><string>${escaped(log)}</string>
</dict></plist>
`,
    start: [['launchctl', 'load', '-w', file]],
    stop: [['launchctl', 'unload', '-w', file]],
    note: `Its log: ${log}`,
  }
}

function managerOf(platform: NodeJS.Platform): Manager {
  if (platform === 'linux') return systemd()
  if (platform === 'darwin') return launchd()
  throw new AppError('bad_request', 'Services are installed on Linux (systemd) and macOS only.')
}

async function call(commands: Manager['start']): Promise<void> {
  for (const [program, ...values] of commands)
    try {
      await promisify(execFile)(program, values)
    } catch (error) {
      throw new AppError(
        'bad_request',
        `\`${[program, ...values].join(' ')}\` failed: ${errorText(error)}`,
        { cause: error },
      )
    }
}

/**
 * Writes the service and starts it. It has the configuration of this call; installing it again replaces it.
 * @param program the path of `nanoclaw` as it was called.
 * @returns lines for the operator.
 */
export async function installService(
  { config, file }: Pick<LoadedConfig, 'config' | 'file'>,
  program: string,
): Promise<string[]> {
  const manager = managerOf(process.platform)
  const { NANOCLAW_CONFIG: named, NANOCLAW_DATA: data } = process.env
  // A file that was found, not named, is found again from its folder: naming it would change what it implies.
  const variables = {
    ...(named && file !== null ? { NANOCLAW_CONFIG: file } : {}),
    ...(data ? { NANOCLAW_DATA: resolve(data) } : {}),
    // Programs of MCP servers, such as npx, are found as here.
    PATH: process.env.PATH ?? '',
  }
  await mkdir(dirname(manager.file), { recursive: true })
  await writeFile(
    manager.file,
    manager.text({
      command: [process.execPath, program, 'start'],
      variables,
      folder: file === null ? null : dirname(file),
      stopSeconds: config.shutdown_grace + CLOSING_SECONDS,
    }),
    { mode: 0o600 },
  )
  await call(manager.start)
  return [
    `Installed and started the service: ${manager.file}`,
    ...(manager.secretsFile === null
      ? []
      : [
          `Further variables, such as keys, belong into ${manager.secretsFile} (one NAME=value a line).`,
        ]),
    manager.note,
  ]
}

/** Stops the service and removes it; the data stays. */
export async function removeService(): Promise<string[]> {
  const manager = managerOf(process.platform)
  await call(manager.stop)
  await rm(manager.file, { force: true })
  return [`Stopped and removed the service: ${manager.file}. The data stays.`]
}
