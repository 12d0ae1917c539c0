// Performs one call of a remote tool, and describes its outcome as a result or as the reason why there is none.
import { errorText } from '../../errors.ts'
import type { InputAnswer } from '../../protocol/runs/input.ts'
import type { ToolProgress } from '../../protocol/runs/tool-progress.ts'
import { type FaultKind, kindOf } from './faults.ts'
import type { RemoteClient, RemoteProgress, RemoteResult, RemoteTool, Sdk } from './sdk.ts'
import { NO_TIMEOUT_MS } from './timing.ts'

/**
 * The outcome of a call: the server's result, what the server asks for or requires first, or why there is none of these.
 */
export type RemoteAnswer =
  | { ok: true; result: RemoteResult }
  | { ok: 'input'; requests: unknown; state: string | null }
  | { ok: 'pages'; elicitations: readonly unknown[] }
  | { ok: false; error: string; reached: boolean }

/** One call of a tool of an MCP server. */
export interface RemoteCall {
  tool: RemoteTool
  input: Record<string, unknown>
  /** Aborted when the run stops or the call's time is up. The server is notified, and the call ends at once. */
  signal: AbortSignal
  onProgress(progress: ToolProgress): void
  /** Answers a question that a server of an earlier revision asks while the call is open. */
  onInput(params: unknown): Promise<InputAnswer>
  /** Continues a call that ended with questions: the answers under the server's names, and its unchanged state. */
  resume?: { responses: Record<string, InputAnswer>; state: string | null } | undefined
}

/** How a call ended: with a result, or with what the server needs first. */
export type CallOutcome =
  | { kind: 'result'; result: RemoteResult }
  | { kind: 'input'; requests: unknown; state: string | null }
  /** The server did not run the call: the person must open these pages first (error -32042). */
  | { kind: 'pages'; elicitations: readonly unknown[] }
  | { kind: Exclude<FaultKind, 'slow'> | 'stopped'; fault: unknown }

/** Sends a call once. Never throws. */
export async function sendCall(
  client: RemoteClient,
  sdk: Sdk,
  { tool, input, signal, onProgress, resume }: RemoteCall,
): Promise<CallOutcome> {
  let shownAt = Number.NEGATIVE_INFINITY
  try {
    const result = await client.callTool(
      {
        name: tool.name,
        arguments: input,
        ...(resume === undefined ? {} : { inputResponses: resume.responses }),
        ...(resume?.state == null ? {} : { requestState: resume.state }),
      },
      {
        signal,
        timeout: NO_TIMEOUT_MS,
        allowInputRequired: true,
        onprogress(notification) {
          if (performance.now() - shownAt < SHOWN_EVERY_MS) return
          shownAt = performance.now()
          onProgress(progressOf(notification))
        },
        toolDefinition: withoutOutputSchema(tool),
      },
    )
    const asks: unknown = result
    if (sdk.isInputRequiredResult(asks))
      return { kind: 'input', requests: asks.inputRequests, state: asks.requestState ?? null }
    return { kind: 'result', result }
  } catch (fault) {
    if (signal.aborted) return { kind: 'stopped', fault }
    if (fault instanceof sdk.UrlElicitationRequiredError)
      return { kind: 'pages', elicitations: fault.elicitations }
    const kind = kindOf(fault, sdk)
    return { kind: kind === 'slow' ? 'broken' : kind, fault }
  }
}

/**
 * The tool's definition names the arguments to repeat as headers. Results are not checked against the server's own schema:
 * it would be compiled for each call, and results are untrusted in any case.
 */
const withoutOutputSchema = ({ outputSchema: _unused, ...tool }: RemoteTool): RemoteTool => tool

const MAX_LINE_CHARACTERS = 2_000
/** Progress that arrives faster is dropped, because every listener of the run receives it. */
const SHOWN_EVERY_MS = 100

/** The server's message, or else its numbers, which may be fractions. */
const progressOf = ({ message, progress, total }: RemoteProgress): ToolProgress =>
  message !== undefined
    ? { kind: 'text', text: message.slice(0, MAX_LINE_CHARACTERS) }
    : {
        kind: 'count',
        done: Math.round(progress),
        ...(total === undefined ? {} : { total: Math.round(total) }),
      }

/** What a server reported about a fault, shortened for the model. */
export const brief = (fault: unknown): string => errorText(fault).slice(0, 1000)
