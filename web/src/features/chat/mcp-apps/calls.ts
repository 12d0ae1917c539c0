// What an app of an MCP server asks the server for: calls of tools, followed until somebody has decided about them, and its context.
import { type QueryClient, QueryObserver } from '@tanstack/react-query'
import type { z } from 'zod'
import type {
  McpAppCall,
  McpAppCallDone,
  McpAppCallWaiting,
  McpAppResult,
} from '../../../../../server/protocol/mcp-app.ts'
import { ApiError, request, requestDone } from '../../../lib/http/api-client.ts'

/** The call of the answer whose result the app shows. */
export type AppPlace = { runId: string; callRef: string }

/** Changes are announced; these are for what no event reports. */
const LOOK_AGAIN_MS = { waiting: 15_000, running: 2_000 }

const pathOf = ({ runId, callRef }: AppPlace): string =>
  `/api/runs/${runId}/apps/${encodeURIComponent(callRef)}`

/**
 * Calls a tool. Resolves with its result, or with null if the call was withdrawn; `onWaiting` receives the id of the request
 * that somebody must decide first. Rejects with `ApiError`, and once `signal` aborts.
 */
export async function callTool(
  client: QueryClient,
  place: AppPlace,
  call: { name: string; arguments: Readonly<Record<string, unknown>> },
  { signal, onWaiting }: { signal: AbortSignal; onWaiting: (approvalId: string) => void },
): Promise<McpAppResult | null> {
  const answer = await request<z.infer<typeof McpAppCallDone> | McpAppCallWaiting>(
    `${pathOf(place)}/call`,
    { method: 'POST', body: call, signal },
  )
  if ('result' in answer) return answer.result
  onWaiting(answer.approval_id)
  return await followCall(client, place.runId, answer.id_ref, signal)
}

/** Resolves when the call has ended. */
const followCall = (
  client: QueryClient,
  runId: string,
  ref: string,
  signal: AbortSignal,
): Promise<McpAppResult | null> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const observer = new QueryObserver<McpAppCall>(client, {
      queryKey: ['app-calls', runId, ref],
      queryFn: (query) =>
        request<McpAppCall>(`/api/runs/${runId}/apps/calls/${ref}`, { signal: query.signal }),
      refetchInterval: ({ state }) =>
        LOOK_AGAIN_MS[state.data?.state === 'running' ? 'running' : 'waiting'],
      staleTime: 0,
      gcTime: 0,
      meta: { quiet: true },
    })
    const onAbort = (): void => {
      stop()
      reject(signal.reason)
    }
    const stop = observer.subscribe(({ data, error }) => {
      const isOver = data?.state === 'done' || data?.state === 'void'
      const isLost = error instanceof ApiError && [403, 404].includes(error.status)
      if (!isOver && !isLost) return
      stop()
      signal.removeEventListener('abort', onAbort)
      if (isOver) resolve(data.result)
      else reject(error)
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })

/** Stores what the app tells the model, one after another; of several that wait for their turn only the newest. */
export function createContextStore(placeOf: () => AppPlace): (text: string) => Promise<void> {
  let newest: string | null = null
  let last = Promise.resolve()
  return (text) => {
    newest = text
    const stored = last.then(async () => {
      if (newest === null) return
      const body = { text: newest }
      newest = null
      await requestDone(`${pathOf(placeOf())}/context`, { method: 'PUT', body })
    })
    last = stored.catch(() => undefined)
    return stored
  }
}
