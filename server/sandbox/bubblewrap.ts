// Kernel isolation with bubblewrap: detection, and the arguments that wrap a program.
import { lstat, readlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { runProcess } from './process.ts'

/** Whether bubblewrap works on this machine. */
export type BubblewrapState =
  | { available: true; path: string; version: string }
  | { available: false; reason: string }

/** What a program can access on the host. */
export interface IsolationOptions {
  /** Host folders or files that are visible read-only at the same or another path inside. */
  readOnly?: readonly { host: string; inside: string }[]
  /** Host folders that the program may change. */
  writable?: readonly { host: string; inside: string }[]
  /** The working directory inside. */
  workingDirectory: string
  /** `private`: the namespace it is started in (private-network.ts). `host`: everything this machine can reach. */
  network: 'none' | 'private' | 'host'
  /** Size of the private /tmp in bytes. */
  temporaryBytes?: number
}

const PROBE_TIMEOUT_MS = 5_000
const RESOLVER = '/etc/resolv.conf'
/** Descriptor from which bubblewrap reads the `resolv.conf` of a private network. */
export const RESOLVER_DESCRIPTOR = 5
const DEFAULT_TEMPORARY_BYTES = 256 * 1024 * 1024
/** A user id that is unused on the host; on the host, files still belong to the server's user. */
const INSIDE_ID = '1000'

/** Output of bubblewrap where a container runtime forbids user namespaces, their host name, or a new /proc. */
const IN_CONTAINERS =
  /No permissions to create|Can't set hostname|Can't mount proc|Creating new namespace failed/

/** The parts of /etc that programs need: public certificates, never `/etc/ssl/private`. */
const READABLE = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/localtime',
  '/etc/ssl/certs',
  '/etc/ssl/cert.pem',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
  '/etc/ca-certificates/extracted',
]

/** The full path of a program on this machine. */
export async function findProgram(name: string): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter)) {
    if (!folder.startsWith('/')) continue
    const path = join(folder, name)
    try {
      if (!(await lstat(path)).isDirectory()) return path
    } catch {
      // Not in this folder.
    }
  }
  return null
}

/** The system folders, read-only, with the host's symbolic links (`/bin` -> `usr/bin`). */
async function systemArguments(): Promise<string[]> {
  const args: string[] = ['--ro-bind', '/usr', '/usr']
  for (const name of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    try {
      if ((await lstat(name)).isSymbolicLink()) args.push('--symlink', await readlink(name), name)
      else args.push('--ro-bind', name, name)
    } catch {
      // The host has no such folder.
    }
  }
  for (const name of READABLE) args.push('--ro-bind-try', name, name)
  return args
}

function networkFiles(network: IsolationOptions['network']): string[] {
  if (network === 'none') return []
  const bound = ['/etc/hosts', '/etc/nsswitch.conf', ...(network === 'host' ? [RESOLVER] : [])]
  const args = bound.flatMap((name) => ['--ro-bind-try', name, name])
  // The host's resolver may be at a loopback address, which is unreachable inside.
  if (network === 'private') args.push('--ro-bind-data', String(RESOLVER_DESCRIPTOR), RESOLVER)
  return args
}

/**
 * Arguments for bubblewrap up to and including `--`: its own user, process, mount, IPC and (unless requested otherwise)
 * network namespace, no capabilities, no nested user namespaces, no environment, and nothing of the host except its system
 * folders (read-only) and the paths in `options`. When bubblewrap exits, everything inside is killed.
 *
 * Not `--new-session`: `startProcess` has made a session without a terminal already, and the first process inside stays in the
 * group that is killed. With a session of its own, it lives on if that happens before it has asked to die with its parent.
 */
export async function bubblewrapArguments(options: IsolationOptions): Promise<string[]> {
  const args = [
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    ...(options.network === 'none' ? [] : ['--share-net']),
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    '--uid',
    INSIDE_ID,
    '--gid',
    INSIDE_ID,
    '--hostname',
    'sandbox',
    ...(await systemArguments()),
    ...networkFiles(options.network),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--size',
    String(options.temporaryBytes ?? DEFAULT_TEMPORARY_BYTES),
    '--tmpfs',
    '/tmp',
  ]
  for (const { host, inside } of options.readOnly ?? []) args.push('--ro-bind', host, inside)
  for (const { host, inside } of options.writable ?? []) args.push('--bind', host, inside)
  args.push('--chdir', options.workingDirectory, '--')
  return args
}

/** Results by the folders that were searched. */
const detected = new Map<string, Promise<BubblewrapState>>()

/**
 * Looks for bubblewrap and tries it with the same arguments that later calls use. Never throws. The result is valid for the
 * life of the process: only the first call starts programs.
 */
export function detectBubblewrap(): Promise<BubblewrapState> {
  const searched = process.env.PATH ?? ''
  const known = detected.get(searched) ?? detect()
  detected.set(searched, known)
  return known
}

async function detect(): Promise<BubblewrapState> {
  if (process.platform !== 'linux')
    return { available: false, reason: 'bubblewrap exists on Linux only' }
  const path = await findProgram('bwrap')
  if (path === null)
    return { available: false, reason: 'bubblewrap is not installed (package "bubblewrap")' }
  const run = (args: readonly string[]) =>
    runProcess({
      command: path,
      args,
      cwd: '/',
      env: {},
      timeoutMs: PROBE_TIMEOUT_MS,
      maxOutputBytes: 2_000,
    })
  const trial = await run([
    ...(await bubblewrapArguments({ workingDirectory: '/tmp', network: 'none' })),
    '/bin/true',
  ])
  if (trial.exitCode !== 0) {
    const cause = trial.stderr.trim() || trial.startError?.message || 'it timed out'
    const hint = IN_CONTAINERS.test(cause) ? ' (containers: docker-compose.bubblewrap.yml)' : ''
    return { available: false, reason: `bubblewrap does not work here: ${cause}${hint}` }
  }
  const version = await run(['--version'])
  return { available: true, path, version: version.stdout.trim() }
}
