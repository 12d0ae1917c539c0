// Commands in their own network namespace: the host, its server and the private networks around it are unreachable.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { prepareCommandNetwork } from '../../../server/composition/programs.ts'
import { parseConfig } from '../../../server/config/load.ts'
import { checkShell } from '../../../server/doctor/checks/sandbox.ts'
import { bubblewrapArguments, detectBubblewrap } from '../../../server/sandbox/bubblewrap.ts'
import { detectPrivateNetwork } from '../../../server/sandbox/private-network.ts'
import { type ProcessOptions, startProcess } from '../../../server/sandbox/process.ts'
import { startUpstream, type Upstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { openEvents } from '../../support/server/events.ts'
import { useServers } from '../../support/server/server.ts'

const bubblewrap = await detectBubblewrap()
const state = await detectPrivateNetwork(bubblewrap)
const why = state.available ? '' : ` (skipped: ${state.reason})`
const ownAddresses = Object.values(networkInterfaces()).flatMap((entries = []) =>
  entries
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address),
)

describe.skipIf(!state.available)(`a network of its own${why}`, () => {
  let port = 0
  const listener = createServer((socket) => socket.end('reached'))
  beforeAll(async () => {
    await new Promise<void>((resolve) => listener.listen(0, '0.0.0.0', resolve))
    const address = listener.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  })
  afterAll(() => new Promise((resolve) => listener.close(resolve)))

  /** The hosts that a program can reach at the listener's port. */
  const reached = async (hosts: readonly string[], network: 'private' | 'host') => {
    if (!state.available || !bubblewrap.available) throw new Error('skipped')
    const probe = `for host in ${hosts.join(' ')}; do timeout 2 bash -c "exec 9<>/dev/tcp/$host/${port} && head -c 7 <&9 >/dev/null" 2>/dev/null && echo $host; done; echo end`
    const options: ProcessOptions = {
      command: bubblewrap.path,
      args: [
        ...(await bubblewrapArguments({ workingDirectory: '/tmp', network })),
        ...['bash', '-c', probe],
      ],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      timeoutMs: 60_000,
      maxOutputBytes: 10_000,
    }
    const start = network === 'private' ? state.network.start : startProcess
    const { stdout, startError } = await start(options).done
    expect(startError).toBeNull()
    expect(stdout).toMatch(/end\n$/)
    return stdout.split('\n').slice(0, -2)
  }

  test('reaches neither the loopback of this machine nor any of its addresses', async () => {
    const hosts = ['127.0.0.1', ...ownAddresses]
    expect(await reached(hosts, 'host')).toEqual(hosts)
    // 10.0.2.2 is the host's address inside slirp4netns.
    expect(await reached([...hosts, '127.0.0.2', '0.0.0.0', '10.0.2.2'], 'private')).toEqual([])
  })

  test('cannot reach private networks, uses its own resolver, and can change neither', async () => {
    if (!state.available || !bubblewrap.available) throw new Error('skipped')
    const look =
      'cat /etc/resolv.conf; cat /proc/net/route | cut -f2,8 | sort; ip route del unreachable 192.168.0.0/16 2>&1; unshare -rn true 2>/dev/null || echo closed'
    const { stdout } = await state.network.start({
      command: bubblewrap.path,
      args: [
        ...(await bubblewrapArguments({ workingDirectory: '/tmp', network: 'private' })),
        ...['sh', '-c', look],
      ],
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      timeoutMs: 30_000,
      maxOutputBytes: 10_000,
    }).done
    expect(stdout).toContain('nameserver 10.0.2.3')
    // 192.168.0.0/16 and 169.254.0.0/16, in the notation of the kernel's routing table.
    expect(stdout).toContain('0000A8C0\t0000FFFF')
    expect(stdout).toContain('0000FEA9\t0000FFFF')
    expect(stdout).toMatch(/not permitted[\s\S]*closed\n$/)
  })

  test('ends with the program, and with a program that is killed', async () => {
    if (!state.available || !bubblewrap.available) throw new Error('skipped')
    const stopping = new AbortController()
    const running = state.network.start({
      command: bubblewrap.path,
      args: [
        ...(await bubblewrapArguments({ workingDirectory: '/tmp', network: 'private' })),
        ...['sh', '-c', 'echo up; sleep 600'],
      ],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      signal: stopping.signal,
      maxOutputBytes: 1_000,
      onOutput: () => stopping.abort(),
    })
    expect(await running.done).toMatchObject({ aborted: true, stdout: 'up\n', startError: null })
  })
})

describe.skipIf(!state.available)(`exec with network access${why}`, () => {
  const { start } = useServers()
  let upstream: Upstream
  beforeAll(async () => {
    upstream = await startUpstream()
  })
  afterAll(() => upstream.close())

  test.each([
    [true, 'unreachable', undefined],
    ['host', 'reached', 'host_network'],
  ] as const)(
    'with `network: %s` the API of this server is %s',
    async (network, expected, warning) => {
      const server = await start({
        config: {
          models: [{ id: 'scripted', api_url: upstream.url }],
          titles: 'off',
          tools: { exec: { enabled: true, network } },
        },
      })
      const project = await server.call('POST', '/api/projects', { body: { name: 'Net' } })
      const conversation = await server.call('POST', '/api/conversations', {
        body: { project_id: project.json.data.id },
      })
      const port = new URL(server.url).port
      const command = `bash -c 'exec 9<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null && echo reached || echo unreachable`
      upstream.enqueue(
        turn.toolCalls([{ id: 'c', name: 'exec', arguments: { command } }]),
        turn.text('Done.'),
      )
      const stream = await openEvents(
        `${server.url}/api/conversations/${conversation.json.data.id}/messages`,
        { body: { text: 'Go', stream_mode: 'delta' } },
      )
      const { data } = await stream.next(({ event }) => event === 'approval_required')
      expect(data.preview.warning_code).toBe(warning)
      await server.call('POST', `/api/runs/${data.run_id}/approvals`, {
        body: { id_ref: 'c', decision: 'approve' },
      })
      const result = (await stream.all()).find(
        ({ data: step }) => step.type === 'tool_result',
      )?.data
      expect(JSON.parse(result.content).data.stdout).toBe(`${expected}\n`)
    },
  )
})

describe('where slirp4netns is missing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-path-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  afterEach(() => vi.unstubAllEnvs())

  test.skipIf(!bubblewrap.available)(
    'a start and the doctor refuse `network: true` with one line that says what to install; `host` and false need nothing',
    async () => {
      if (bubblewrap.available) symlinkSync(bubblewrap.path, join(folder, 'bwrap'))
      vi.stubEnv('PATH', folder)
      const configured = (network: unknown) =>
        prepareCommandNetwork(
          parseConfig(JSON.stringify({ tools: { exec: { enabled: true, network } } }), {}),
        )
      const refused = expect.stringMatching(
        /^tools\.exec\.network: [^\n]*slirp4netns is not installed[^\n]*apt-get install/,
      )
      await expect(configured(true)).rejects.toMatchObject({ faults: [refused] })
      expect(await configured('host')).toBe('host')
      expect(await configured(false)).toBe('none')
      const [finding] = await checkShell({ enabled: true, network: true })
      expect(finding).toMatchObject({
        state: 'fail',
        advice: expect.stringContaining('slirp4netns'),
      })
    },
  )
})
