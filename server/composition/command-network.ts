// What the commands of `exec` reach, prepared before the server opens anything.
import { ConfigError } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { detectBubblewrap } from '../sandbox/bubblewrap.ts'
import { detectPrivateNetwork, privateNetworkAdvice } from '../sandbox/private-network.ts'
import type { CommandNetwork } from '../tools/builtin/exec.ts'

/**
 * What commands reach. Throws `ConfigError` where they are to reach the internet alone and cannot be kept from the rest:
 * nothing may ever be more open than the configuration says.
 */
export async function prepareCommandNetwork({ tools: { exec } }: Config): Promise<CommandNetwork> {
  if (!exec.enabled || exec.network === false) return 'none'
  if (exec.network === 'host') return 'host'
  const state = await detectPrivateNetwork(await detectBubblewrap())
  if (state.available) return state.network
  throw new ConfigError([`tools.exec.network: ${privateNetworkAdvice(state.reason)}`])
}
