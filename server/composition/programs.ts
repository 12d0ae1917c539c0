// Programs as configured: network, limits and isolation of shell commands, and the Python sandbox.
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { ConfigError } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { type BubblewrapState, detectBubblewrap } from '../sandbox/bubblewrap.ts'
import { detectPrivateNetwork, privateNetworkAdvice } from '../sandbox/private-network.ts'
import { createPythonSandbox, type PythonSandbox } from '../sandbox/python/sandbox.ts'
import type { BuiltinDependencies } from '../tools/builtin/index.ts'
import type { CommandNetwork } from '../tools/builtin/programs/exec.ts'

/** Null when `exec` is off. In multi-user mode it requires isolation by the kernel. */
export function execSettings(
  { tools: { exec }, auth_mode }: Config,
  bubblewrap: BubblewrapState,
  network: CommandNetwork,
  log: FastifyBaseLogger,
): BuiltinDependencies['exec'] {
  if (!exec.enabled) return null
  if (!bubblewrap.available && (exec.isolation === 'kernel' || auth_mode === 'multi')) {
    log.warn(
      { reason: bubblewrap.reason },
      'exec is disabled: commands cannot be isolated on this host',
    )
    return null
  }
  const { memory, processes } = exec
  return { bubblewrap, network, limits: { memoryBytes: memory, processes } }
}

/** Creates the Python sandbox, which determines the available isolation in the background. */
export function startPython(config: Config, log: FastifyBaseLogger): PythonSandbox {
  const { engine, isolation, pool_size, pool_idle, packages_dir, extra_allowed_modules } =
    config.code_execution
  const python = createPythonSandbox({
    engine,
    isolation,
    multiUser: config.auth_mode === 'multi',
    poolSize: pool_size,
    poolIdleMs: pool_idle * 1000,
    compiledFolder: join(config.data_dir, 'python'),
    packagesFolder: packages_dir ?? null,
    extraModules: extra_allowed_modules,
    log: (message, details) => log.info(details, message),
  })
  void python.ready.then(() => log.info({ python: python.state }, 'isolation of Python programs'))
  return python
}

/**
 * The network of commands. @throws ConfigError when commands should reach only the internet but private networks cannot be
 * blocked here: access must never be broader than configured.
 */
export async function prepareCommandNetwork({ tools: { exec } }: Config): Promise<CommandNetwork> {
  if (!exec.enabled || exec.network === false) return 'none'
  if (exec.network === 'host') return 'host'
  const state = await detectPrivateNetwork(await detectBubblewrap())
  if (state.available) return state.network
  throw new ConfigError([`tools.exec.network: ${privateNetworkAdvice(state.reason)}`])
}
