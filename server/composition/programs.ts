// The network of shell commands as configured.
import { ConfigError } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { type CommandNetwork, findCommandNetwork } from '../tools/builtin/programs/exec.ts'

/** The network of commands. @throws ConfigError when the configured one does not work on this machine. */
export async function prepareCommandNetwork({ tools: { exec } }: Config): Promise<CommandNetwork> {
  const found = await findCommandNetwork(exec)
  if (typeof found === 'object' && 'advice' in found)
    throw new ConfigError([`tools.exec.network: ${found.advice}`])
  return found
}
