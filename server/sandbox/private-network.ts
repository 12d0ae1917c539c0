// A network of a program's own: the internet, and nothing of this machine or of the private networks around it (slirp4netns).
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

export interface PrivateNetwork {
  /**
   * Starts a program as `startProcess` does, in a network namespace of its own. The program is bubblewrap with the
   * arguments for a `private` network: it takes away the right to change what is closed here. Extra pipes are not handed on.
   */
  start(options: ProcessOptions): RunningProcess
}

export type PrivateNetworkState =
  | { available: true; network: PrivateNetwork }
  | { available: false; reason: string }

const PROBE_MS = 10_000
/** How long slirp4netns may take to set the namespace up: milliseconds usually. */
const READY_MS = 10_000

/**
 * Networks that are not the internet. slirp4netns opens connections in the name of the server, so what the server can reach
 * around it has to be closed on the inside.
 */
const CLOSED = [
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
 * Runs inside, with rights over the new namespace only: says that it is there, waits until slirp4netns has made the way out
 * (10.0.2.0/24, names at 10.0.2.3), closes the networks, and becomes the program.
 */
const SETUP = `
ip=$1; closed=$2; shift 2
echo there >&3
read -r ready <&3 || exit 1
for net in $closed; do "$ip" route add unreachable "$net" || exit 1; done
echo closed >&3
exec "$@" 3>&- ${RESOLVER_DESCRIPTOR}<<EOF
nameserver 10.0.2.3
EOF`

/** Addresses of this machine, also public ones: its own services listen there. */
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
    const closed = [...new Set([...CLOSED, ...ownAddresses()])].join(' ')
    const inside = ['/bin/sh', '-c', SETUP, 'sh', ip, closed, options.command, ...options.args]
    const running = startProcess({
      ...options,
      command: unshare,
      args: ['--user', '--map-root-user', '--net', ...inside],
      extraPipes: 1,
    })
    const [talk] = running.pipes
    if (running.pid === undefined || talk === undefined) return running
    const { pid } = running
    let heard = ''
    let way: RunningProcess | undefined
    const openWay = (): void => {
      way = startProcess({
        command: slirp4netns,
        // IPv6 stays off. The sandbox takes slirp4netns itself away from the files: it reads what hostile programs send.
        args: [
          ...['--configure', '--mtu=65520', '--disable-host-loopback', '--enable-sandbox'],
          ...['--ready-fd=3', '--exit-fd=4', String(pid), 'tap0'],
        ],
        cwd: '/',
        env: {},
        // 3 says that it is ready; 4 ends it together with this server, whatever ends that.
        extraPipes: 2,
        maxOutputBytes: 2_000,
      })
      const giveUp = setTimeout(running.kill, READY_MS)
      way.pipes[0]?.once('data', () => {
        clearTimeout(giveUp)
        talk.write('ready\n')
      })
      // Without it the program has no network any more; before it is ready there is nothing to run for.
      void way.done.then(() => {
        clearTimeout(giveUp)
        if (!heard.includes('closed')) running.kill()
      })
    }
    talk.on('data', (chunk: Buffer) => {
      heard += chunk.toString()
      if (way === undefined && heard.includes('there')) openWay()
    })
    const done = running.done.then(async (outcome): Promise<ProcessOutcome> => {
      way?.kill()
      const ended = await way?.done
      if (heard.includes('closed') || outcome.aborted || outcome.timedOut) return outcome
      const why = [ended?.stderr, ended?.startError?.message, outcome.stderr]
        .filter(Boolean)
        .join(' ')
      return { ...outcome, startError: new Error(why.trim() || 'the network was not set up') }
    })
    return { ...running, pipes: [], done }
  },
})

/** What an operator can do where commands are to reach the internet alone and this does not work. */
export const privateNetworkAdvice = (reason: string): string =>
  `\`true\` needs bubblewrap, slirp4netns and ip: ${reason}. Install them (apt-get install bubblewrap slirp4netns iproute2), or set \`host\` to let commands reach everything that this machine can.`

/** Looks for the programs and tries them together, as they are used later. Never throws. */
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
    timeoutMs: PROBE_MS,
    maxOutputBytes: 2_000,
  }).done
  if (trial.exitCode === 0 && trial.startError === null) return { available: true, network }
  const why = trial.startError?.message ?? (trial.stderr.trim() || 'it did not end in time')
  return {
    available: false,
    reason: `slirp4netns does not work here: ${why.replace(/\s+/g, ' ').slice(-300)}`,
  }
}
