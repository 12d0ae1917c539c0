// A private network for programs (slirp4netns) that reaches the internet, but not this machine or the private networks
// around it.
import { networkInterfaces } from 'node:os'
import {
  type BubblewrapState,
  bubblewrapArguments,
  findProgram,
  RESOLVER_DESCRIPTOR,
} from './bubblewrap.ts'
import {
  type ProcessOptions,
  type ProcessOutcome,
  type RunningProcess,
  startProcess,
} from './process.ts'

/** Networks of programs that reach the internet but no private address. */
export interface PrivateNetwork {
  /**
   * Starts a program like `startProcess`, in its own network namespace. The program must be bubblewrap with the arguments
   * for a `private` network, which drop the privilege to change routes. Extra pipes are not supported.
   */
  start(options: ProcessOptions): RunningProcess
}

/** Whether private networks work on this machine. */
export type PrivateNetworkState =
  | { available: true; network: PrivateNetwork }
  | { available: false; reason: string }

const PROBE_TIMEOUT_MS = 10_000
/** How long slirp4netns may take to set up the namespace; it usually takes milliseconds. */
const READY_TIMEOUT_MS = 10_000

/**
 * Networks that are not the public internet. slirp4netns opens connections as the server's user, so routes to networks that
 * the server can reach are blocked inside the namespace.
 */
const BLOCKED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/**
 * Runs in the new namespace, where alone it is privileged: reports `created`, waits until slirp4netns has set up the uplink
 * (10.0.2.0/24, DNS at 10.0.2.3), blocks the networks, reports `blocked` and executes the program.
 */
const SETUP = `
ip=$1; blocked=$2; shift 2
echo created >&3
read -r ready <&3 || exit 1
for net in $blocked; do "$ip" route add unreachable "$net" || exit 1; done
echo blocked >&3
exec "$@" 3>&- ${RESOLVER_DESCRIPTOR}<<EOF
nameserver 10.0.2.3
EOF`

/** This machine's addresses, including public ones, because its own services listen there. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((entries = []) =>
    entries
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
      .map(({ address }) => `${address}/32`),
  )

interface Programs {
  slirp4netns: string
  unshare: string
  ip: string
}

const createPrivateNetwork = ({ slirp4netns, unshare, ip }: Programs): PrivateNetwork => ({
  start(options) {
    const blocked = [...new Set([...BLOCKED, ...ownAddresses()])].join(' ')
    const inside = ['/bin/sh', '-c', SETUP, 'sh', ip, blocked, options.command, ...options.args]
    const running = startProcess({
      ...options,
      command: unshare,
      args: ['--user', '--map-root-user', '--net', ...inside],
      extraPipes: 1,
    })
    const [control] = running.pipes
    if (running.pid === undefined || control === undefined) return running
    const { pid } = running
    let reported = ''
    const isBlocked = (): boolean => reported.includes('blocked')
    let uplink: RunningProcess | undefined
    const startUplink = (): void => {
      uplink = startProcess({
        command: slirp4netns,
        // IPv6 stays off. slirp4netns is sandboxed too, because it parses packets of hostile programs.
        args: [
          ...['--configure', '--mtu=65520', '--disable-host-loopback', '--enable-sandbox'],
          ...['--ready-fd=3', '--exit-fd=4', String(pid), 'tap0'],
        ],
        cwd: '/',
        env: {},
        // Descriptor 3 reports readiness; closing 4 ends slirp4netns, so that it never outlives this server.
        extraPipes: 2,
        maxOutputBytes: 2_000,
      })
      const giveUp = setTimeout(running.kill, READY_TIMEOUT_MS)
      uplink.pipes[0]?.once('data', () => {
        clearTimeout(giveUp)
        control.write('ready\n')
      })
      // Without slirp4netns the program has no network; if setup failed, there is no point in running it.
      void uplink.done.then(() => {
        clearTimeout(giveUp)
        if (!isBlocked()) running.kill()
      })
    }
    control.on('data', (chunk: Buffer) => {
      reported += chunk.toString()
      if (uplink === undefined && reported.includes('created')) startUplink()
    })
    const done = running.done.then(async (outcome): Promise<ProcessOutcome> => {
      uplink?.kill()
      const ended = await uplink?.done
      if (isBlocked() || outcome.aborted || outcome.timedOut) return outcome
      const cause = [ended?.stderr, ended?.startError?.message, outcome.stderr]
        .filter(Boolean)
        .join(' ')
      return { ...outcome, startError: new Error(cause.trim() || 'the network was not set up') }
    })
    return { ...running, pipes: [], done }
  },
})

/** Advice for operators when commands may reach only the internet, and this machine cannot provide that. */
export const privateNetworkAdvice = (reason: string): string =>
  `\`true\` needs bubblewrap, slirp4netns and ip: ${reason}. Install them (apt-get install bubblewrap slirp4netns iproute2), or set \`host\` to let commands reach everything that this machine can.`

/** Looks for the programs and tries them the same way that later calls use them. Never throws. */
export async function detectPrivateNetwork(
  bubblewrap: BubblewrapState,
): Promise<PrivateNetworkState> {
  if (!bubblewrap.available) return bubblewrap
  const [slirp4netns, ip, unshare] = await Promise.all([
    findProgram('slirp4netns'),
    findProgram('ip'),
    findProgram('unshare'),
  ])
  const missing = (name: string, packageName: string): PrivateNetworkState => ({
    available: false,
    reason: `${name} is not installed (package "${packageName}")`,
  })
  if (slirp4netns === null) return missing('slirp4netns', 'slirp4netns')
  if (ip === null) return missing('ip', 'iproute2')
  if (unshare === null) return missing('unshare', 'util-linux')
  const network = createPrivateNetwork({ slirp4netns, ip, unshare })
  const trial = await network.start({
    command: bubblewrap.path,
    args: [
      ...(await bubblewrapArguments({ workingDirectory: '/tmp', network: 'private' })),
      '/bin/true',
    ],
    cwd: '/',
    env: {},
    timeoutMs: PROBE_TIMEOUT_MS,
    maxOutputBytes: 2_000,
  }).done
  if (trial.exitCode === 0 && trial.startError === null) return { available: true, network }
  const cause = trial.startError?.message ?? (trial.stderr.trim() || 'it timed out')
  return {
    available: false,
    reason: `slirp4netns does not work here: ${cause.replace(/\s+/g, ' ').slice(-300)}`,
  }
}
