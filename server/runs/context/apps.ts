// What apps of MCP servers say about their state, for the prompt of the next run: text from outside.
import type { Store } from '../../db/store.ts'
import type { RunId } from '../../protocol/ids.ts'

/** Apps of the branch that are heard, newest first. */
const MAX_APPS = 5

/** The note about the apps of earlier answers; '' if none says anything. */
export async function appsNote(
  store: Pick<Store, 'appCalls'>,
  runIds: readonly RunId[],
): Promise<string> {
  const contexts = await store.appCalls.contexts(runIds, MAX_APPS)
  if (contexts.length === 0) return ''
  const parts = contexts.map(
    ({ server, tool, text }) => `App of the MCP server '${server}' for '${tool}':\n${text}`,
  )
  return ['What apps that the user has open say about their state now:', ...parts].join('\n\n')
}
