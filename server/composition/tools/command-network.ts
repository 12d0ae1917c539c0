// Prepares the network of `exec` commands, before the server opens anything.
import { ConfigError } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { detectBubblewrap } from '../../sandbox/bubblewrap.ts'
import { detectPrivateNetwork, privateNetworkAdvice } from '../../sandbox/private-network.ts'
import type { CommandNetwork } from '../../tools/builtin/programs/exec.ts'

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
