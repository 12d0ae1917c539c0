// Programs as configured: the network of shell commands, and the Python sandbox.
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { ConfigError } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { createPythonSandbox, type PythonSandbox } from '../sandbox/python/sandbox.ts'
import { type CommandNetwork, findCommandNetwork } from '../tools/builtin/programs/exec.ts'

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

/** The network of commands. @throws ConfigError when the configured one does not work on this machine. */
export async function prepareCommandNetwork({ tools: { exec } }: Config): Promise<CommandNetwork> {
  const found = await findCommandNetwork(exec)
  if (typeof found === 'object' && 'advice' in found)
    throw new ConfigError([`tools.exec.network: ${found.advice}`])
  return found
}
