// Checks which isolation is in force for Python programs and shell commands.
import { join } from 'node:path'
import { detectBubblewrap } from '../../sandbox/bubblewrap.ts'
import { detectPrivateNetwork, privateNetworkAdvice } from '../../sandbox/private-network.ts'
import { createPythonSandbox } from '../../sandbox/python/sandbox.ts'
import { type Finding, fine } from '../finding.ts'

/** The configuration of Python. */
export interface PythonSettings {
  engine: 'wasm' | 'host'
  isolation: 'auto' | 'kernel' | 'wasm'
  multiUser: boolean
  packagesFolder: string | null
}

const INSTALL = 'Install bubblewrap (apt-get install bubblewrap) and allow user namespaces.'

/** Starts the sandbox as the server does and reports its state. */
export async function checkPython(
  { engine: configured, isolation, multiUser, packagesFolder }: PythonSettings,
  dataDirectory: string,
): Promise<Finding[]> {
  const subject = 'execute_python'
  const python = createPythonSandbox({
    engine: configured,
    isolation,
    multiUser,
    poolSize: 0,
    poolIdleMs: 0,
    compiledFolder: join(dataDirectory, 'python'),
    packagesFolder,
    extraModules: {},
    log: () => {},
  })
  await python.ready
  const { available, reason, engine, isolation: inForce } = python.state
  await python.close()
  // The server starts without it, as the image does under the default profiles of Docker.
  if (!available)
    return [
      {
        state: 'warn',
        code: 'python_off',
        params: { reason: reason ?? 'not available' },
        subject,
        detail: reason ?? 'not available',
        advice: INSTALL,
      },
    ]
  if (inForce === 'kernel')
    return [fine('python_kernel', subject, `${engine}, isolated by the kernel`, { engine })]
  return [
    {
      state: 'warn',
      code: 'python_wasm',
      params: { engine, reason: reason ?? '' },
      subject,
      detail: `${engine}, isolated by WebAssembly only${reason === null ? '' : ` (${reason})`}`,
      advice: INSTALL,
    },
  ]
}

/** Checks whether commands of the `exec` tool are isolated, if the tool is enabled. */
export async function checkShell({
  enabled,
  network,
}: {
  enabled: boolean
  network: boolean | 'host'
}): Promise<Finding[]> {
  if (!enabled)
    return [fine('shell_off', 'exec', 'switched off in config.yml (tools.exec.enabled)')]
  const bubblewrap = await detectBubblewrap()
  if (network === true) {
    const state = await detectPrivateNetwork(bubblewrap)
    if (!state.available)
      return [
        {
          state: 'fail',
          code: 'shell_network_broken',
          params: { advice: privateNetworkAdvice(state.reason) },
          subject: 'exec',
          detail: 'tools.exec.network does not work here; the server will not start',
          advice: privateNetworkAdvice(state.reason),
        },
      ]
    return [fine('shell_internet', 'exec', 'on, isolated by the kernel, reaches only the internet')]
  }
  if (bubblewrap.available)
    return network === 'host'
      ? [
          {
            state: 'warn',
            code: 'shell_host_network',
            params: {},
            subject: 'exec',
            detail:
              'on, isolated by the kernel, but on the host network: commands can reach this server and everything around it',
            advice: 'Set tools.exec.network to true for internet access only, or to false.',
          },
        ]
      : [fine('shell_kernel', 'exec', 'on, isolated by the kernel')]
  return [
    {
      state: 'warn',
      code: 'shell_not_isolated',
      params: { reason: bubblewrap.reason },
      subject: 'exec',
      detail: `on, but not isolated: ${bubblewrap.reason}`,
      advice: INSTALL,
    },
  ]
}
