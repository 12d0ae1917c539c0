// The `exec` tool: runs a command in the project's folder, isolated by bubblewrap where available; otherwise the preview
// warns.
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { AppError, namedFailure } from '../../../errors.ts'
import { sizeText } from '../../../lib/size-text.ts'
import { withoutNul } from '../../../protocol/envelope.ts'
import { type StoredFailure, storedFailure } from '../../../protocol/failures/stored.ts'
import type { UserId } from '../../../protocol/ids.ts'
import {
  type BubblewrapState,
  bubblewrapArguments,
  detectBubblewrap,
} from '../../../sandbox/bubblewrap.ts'
import {
  detectPrivateNetwork,
  type PrivateNetwork,
  privateNetworkAdvice,
} from '../../../sandbox/private-network.ts'
import { type ProcessOutcome, startProcess } from '../../../sandbox/process.ts'
import { type TreeLimits, watchTree } from '../../../sandbox/process-tree.ts'
import { type Growth, watchGrowth } from '../../../workspace/growth-watch.ts'
import type { Workspace } from '../../../workspace/workspace.ts'
import type { WorkspaceServices } from '../../../workspace/workspace-services.ts'
import {
  defineTool,
  fail,
  markUntrusted,
  succeed,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from '../../definition.ts'
import type { SkillFiles } from '../../skill-files.ts'
import { originOf, workspaceForChange, workspaceForPreview } from '../files/project-access.ts'

const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'
const DEFAULT_SECONDS = 30
const MAX_SECONDS = 600
/** Time for the checkpoint before a command and the comparison after it. */
const ALLOWANCE_MS = 120_000
/** Maximum bytes of each output stream for the model. Longer output is reduced to its beginning and end. */
const MAX_OUTPUT_BYTES = 30_000
/** Maximum characters of output that are streamed to the page while the command runs. */
const MAX_STREAMED_CHARACTERS = 200_000
/** Where the project is mounted inside the sandbox, which otherwise contains only the host's system folders. */
const INSIDE = '/project'
/** Where isolated commands find the files of skills, and how many bytes of them. */
const SKILLS = '/skills'
const MAX_SKILL_BYTES = 50 * 1024 * 1024

const NOT_ISOLATED =
  'This command is NOT isolated: it runs with the rights of the server itself. It can read and change every file that the server can, and use the network.'

const HOST_NETWORK =
  "This command uses the host's network: it can reach this server's own API, other services of this machine and the private networks around it."

/**
 * `none`: no network; `host`: everything that this machine can reach; else only the internet. Without isolation, it is
 * always `host`.
 */
export type CommandNetwork = 'none' | 'host' | PrivateNetwork

/** What the `exec` tool needs from the server. */
export interface ExecDependencies {
  services: WorkspaceServices
  skills: SkillFiles
  bubblewrap: BubblewrapState
  network: CommandNetwork
  /** What a command and all its child processes may use in total. */
  limits: TreeLimits
}

/** What the operator allows commands. */
interface ExecSettings {
  enabled: boolean
  /** `kernel`: without isolation by the kernel, there is no `exec`. */
  isolation: 'auto' | 'kernel'
  /** True: only the internet; `host`: everything that this machine can reach. */
  network: boolean | 'host'
  /** Bytes. */
  memory: number
  processes: number
}

/**
 * The network of commands, or what to install if they should reach only the internet and private networks cannot be blocked
 * here: access must never be broader than configured.
 */
export async function findCommandNetwork({
  enabled,
  network,
}: Pick<ExecSettings, 'enabled' | 'network'>): Promise<CommandNetwork | { advice: string }> {
  if (!enabled || network === false) return 'none'
  if (network === 'host') return 'host'
  const state = await detectPrivateNetwork(await detectBubblewrap())
  return state.available ? state.network : { advice: privateNetworkAdvice(state.reason) }
}

/** Null if commands are off. With several users, they require isolation by the kernel. */
export function execOnThisHost(
  {
    enabled,
    isolation,
    memory,
    processes,
    isMultiUser,
  }: Omit<ExecSettings, 'network'> & { isMultiUser: boolean },
  { bubblewrap, network }: Pick<ExecDependencies, 'bubblewrap' | 'network'>,
  log: { warn(details: object, message: string): void },
): Pick<ExecDependencies, 'bubblewrap' | 'network' | 'limits'> | null {
  if (!enabled) return null
  if (!bubblewrap.available && (isolation === 'kernel' || isMultiUser)) {
    log.warn(
      { reason: bubblewrap.reason },
      'exec is disabled: commands cannot be isolated on this host',
    )
    return null
  }
  return { bubblewrap, network, limits: { memoryBytes: memory, processes } }
}

/** How a command ended, and which limit it exceeded, if any. */
type CommandOutcome = ProcessOutcome & { exceeded: Exceeded | null }
type Exceeded = 'memory' | 'processes' | 'disk'

/** Create it only if the operator has enabled it. */
export function createExecTool(dependencies: ExecDependencies): ToolDefinition {
  const { services, bubblewrap, network } = dependencies
  /** If a command can reach the network, its output and files count as text from outside. */
  const reachesOutside = network !== 'none' || !bubblewrap.available
  const surroundings = bubblewrap.available
    ? `It sees only the project (at ${INSIDE}), the skills (read-only at ${SKILLS}/<name>) and ${reach(network)}.`
    : ''

  return defineTool({
    name: 'exec',
    description: `Runs a shell command in the project folder and returns {stdout, stderr, exit_code, timed_out}. ${surroundings} Standard input is empty, so use non-interactive options. Long output is shortened in the middle. The user can undo its changes.`,
    category: 'shell',
    riskLevel: 'high',
    changesProject: true,
    namesAddresses: true,
    timeoutMs: MAX_SECONDS * 1_000 + ALLOWANCE_MS,
    isolation: bubblewrap.available ? 'kernel' : 'none',
    input: z.object({
      command: withoutNul(z.string().min(1).max(20_000)).describe(`Command line for ${SHELL}.`),
      timeout: z.int().min(1).max(MAX_SECONDS).default(DEFAULT_SECONDS).describe('Seconds.'),
    }),
    // Commands of a batch run in the order of the calls, because a later command may build on an earlier one.
    orderKey: () => 'exec',
    async preview({ command, timeout }, context) {
      await workspaceForPreview(services, context)
      return {
        display: `Run a command (at most ${timeout} s)`,
        display_code: 'command',
        display_params: { count: timeout },
        command,
        ...warningFor(bubblewrap, network),
      }
    },
    async handler(input, context) {
      const workspace = await workspaceForChange(services, context)
      const origin = originOf('exec', context)
      let untrusted = reachesOutside
      let outcome: CommandOutcome | undefined
      try {
        outcome = await services.checkpoints.changeAnything(
          workspace,
          { ...origin, outside: origin.outside === true || reachesOutside },
          async ({ readsOutside, signal, ...growth }) => {
            untrusted ||= readsOutside
            outcome = await withSkills(workspace, context.userId, dependencies, (skillFolder) =>
              perform(workspace, input, { ...context, signal, skillFolder }, growth, dependencies),
            )
            return outcome
          },
          context.signal,
        )
      } catch (error) {
        // The command ran, so its output is useful even if its changes are reverted.
        if (outcome === undefined || !(error instanceof AppError)) throw error
        const failure = namedFailure(error) ?? undefined
        return markUntrusted(fail(error.message, { data: dataOf(outcome), failure }), untrusted)
      }
      return markUntrusted(present(outcome, input, dependencies), untrusted)
    },
  })
}

function present(
  outcome: CommandOutcome,
  { command, timeout }: { command: string; timeout: number },
  { bubblewrap, limits }: ExecDependencies,
): ToolResult {
  if (outcome.startError !== null && !outcome.aborted)
    return fail('The command could not be started on this server.', {
      failure: storedFailure('command_not_started'),
    })
  if (outcome.exceeded !== null)
    return fail(limitMessage(outcome.exceeded, limits), {
      data: dataOf(outcome),
      failure: limitFailure(outcome.exceeded, limits),
    })
  if (outcome.aborted)
    return fail('The command was stopped.', {
      data: dataOf(outcome),
      failure: storedFailure('command_stopped'),
    })
  return succeed(dataOf(outcome), {
    display: outcome.timedOut
      ? `Stopped after ${timeout} s: ${firstLine(command)}`
      : `Exit code ${outcome.exitCode ?? 'none'}: ${firstLine(command)}`,
    kind: 'command',
    command,
    exit_code: outcome.exitCode,
    isolated: bubblewrap.available,
  })
}

/**
 * Runs `work` with a folder that has the files of the skills that the user can use, as they were accepted; null where commands
 * are not isolated, or without such files.
 */
async function withSkills<T>(
  workspace: Workspace,
  userId: UserId,
  { bubblewrap, skills, services }: ExecDependencies,
  work: (folder: string | null) => Promise<T>,
): Promise<T> {
  if (!bubblewrap.available) return await work(null)
  const { projectId } = workspace
  const files = await skills.activeContents(userId, projectId, () => true, MAX_SKILL_BYTES)
  if (files === null || files.length === 0) return await work(null)
  const folder = await services.workspaces.createStagingFolder()
  try {
    for (const { path, content } of files) {
      const file = join(folder, path)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(file, content, { flag: 'wx', mode: 0o500 })
    }
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function perform(
  workspace: Workspace,
  { command, timeout }: { command: string; timeout: number },
  context: ToolContext & { skillFolder: string | null },
  growth: Growth,
  { bubblewrap, network, limits }: ExecDependencies,
): Promise<CommandOutcome> {
  let left = MAX_STREAMED_CHARACTERS
  let exceeded: Exceeded | null = null
  const limited = ['/bin/sh', '-c', limitsFor(workspace, limits, bubblewrap), SHELL, command]
  const wrapped = bubblewrap.available
    ? [
        bubblewrap.path,
        ...(await bubblewrapArguments({
          writable: [{ host: workspace.root, inside: INSIDE }],
          readOnly:
            context.skillFolder === null ? [] : [{ host: context.skillFolder, inside: SKILLS }],
          workingDirectory: INSIDE,
          network: typeof network === 'string' ? network : 'private',
        })),
        ...limited,
      ]
    : limited
  const [program = '/bin/sh', ...args] = wrapped
  const start = bubblewrap.available && typeof network === 'object' ? network.start : startProcess
  const running = start({
    command: program,
    args,
    cwd: workspace.root,
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/tmp',
      LANG: 'C.UTF-8',
      TERM: 'dumb',
    },
    timeoutMs: timeout * 1_000,
    signal: context.signal,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    endsWithServer: true,
    onOutput: (stream, text) => {
      if (left <= 0) return
      left -= text.length
      context.progress({ kind: 'output', stream, text })
    },
  })
  const end = (what: Exceeded): void => {
    exceeded ??= what
    running.kill()
  }
  const watches = [
    running.pid === undefined ? () => {} : watchTree(running.pid, limits, end),
    watchGrowth(workspace, growth, () => end('disk')),
  ]
  const outcome = await running.done
  for (const stopWatching of watches) stopWatching()
  return { ...outcome, exceeded }
}

/**
 * The shell line that sets the limits: only the server's user can access new files; no core dumps; no file larger than a
 * project; no process larger than the limit for all processes together. The process limit needs its own user namespace:
 * elsewhere, the kernel counts all processes of the server's user.
 */
function limitsFor(workspace: Workspace, limits: TreeLimits, bubblewrap: BubblewrapState): string {
  const fileBlocks = Math.ceil(workspace.limits.project / 512)
  const kilobytes = Math.ceil(limits.memoryBytes / 1024)
  const options = ['-c 0', `-f ${fileBlocks}`, '-n 1024', `-d ${kilobytes}`]
  // Raising a limit that is already lower fails, which is fine.
  const set = options.map((limit) => `ulimit ${limit} 2>/dev/null; `).join('')
  const { processes } = limits
  const processLimit = bubblewrap.available
    ? `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null; `
    : ''
  // Inside, a session of its own, so that `kill 0` reaches what the command started and not the sandbox around it. Outside, the
  // guard is a child of the first process, which must not be a program that waits for all of its children.
  const run = bubblewrap.available
    ? 'command -v setsid >/dev/null && exec setsid "$0" -c "$1"; exec "$0" -c "$1"'
    : '"$0" -c "$1"; exit $?'
  return `umask 077; ${set}${processLimit}${run}`
}

function limitMessage(what: Exceeded, limits: TreeLimits): string {
  if (what === 'processes')
    return `The command was killed: it had more than ${limits.processes} processes at once.`
  if (what === 'memory')
    return `The command was ended: together its processes used more than ${Math.round(limits.memoryBytes / 1024 ** 2)} MB of memory.`
  return 'The command was ended: it filled the disk beyond what may be stored.'
}

function limitFailure(what: Exceeded, { processes, memoryBytes }: TreeLimits): StoredFailure {
  if (what === 'processes') return storedFailure('command_too_many_processes', { limit: processes })
  if (what === 'memory')
    return storedFailure('command_memory_exceeded', { size: sizeText(memoryBytes) })
  return storedFailure('command_disk_full')
}

const reach = (network: CommandNetwork): string => {
  if (network === 'none') return 'has no network access'
  return network === 'host' ? 'can use the network' : 'can reach the internet, not this machine'
}

const warningFor = (
  bubblewrap: BubblewrapState,
  network: CommandNetwork,
): { warning?: never } | { warning: string; warning_code: string } => {
  if (!bubblewrap.available) return { warning: NOT_ISOLATED, warning_code: 'not_isolated' }
  return network === 'host' ? { warning: HOST_NETWORK, warning_code: 'host_network' } : {}
}

const dataOf = ({ stdout, stderr, exitCode, timedOut }: ProcessOutcome) => ({
  stdout,
  stderr,
  exit_code: exitCode,
  timed_out: timedOut,
})

const firstLine = (command: string): string => {
  const line = command.split('\n', 1)[0] ?? ''
  return line.length > 100 ? `${line.slice(0, 100)}…` : line
}
