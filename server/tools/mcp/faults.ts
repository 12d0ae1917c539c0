// Classifies failures of MCP connections: what to do next, and how to describe them to people.
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { certificateFault } from '../../lib/certificate-faults.ts'
import { asRecord, asText } from '../../lib/records.ts'
import { type DescribedFailure, storedFailure } from '../../protocol/failures/stored.ts'
import type { McpServerSettings } from '../../protocol/models/mcp.ts'
import type { Sdk } from './sdk.ts'

/**
 * `answered`: the server responded, or its response is invalid. `stale_headers`: it expects other `Mcp-Param-*` headers and
 * did not run the call. `session_lost`: it does not know the session and did not run the call. `sign_in`: it requires an
 * access token, or rejected the one it got. `not_sent`: it could not be reached at all. `not_run`: it refused the request
 * before it ran anything.
 */
export type FaultKind =
  | 'answered'
  | 'not_sent'
  | 'not_run'
  | 'slow'
  | 'stale_headers'
  | 'session_lost'
  | 'sign_in'
  | 'broken'

/** Error code of revision 2026-07-28 for headers that differ from the body. */
const HEADER_MISMATCH = -32020
const METHOD_NOT_FOUND = -32601

/** What an error of the SDK means for the connection and the call. */
export function kindOf(fault: unknown, sdk: Sdk): FaultKind {
  if (fault instanceof sdk.UnauthorizedError) return 'sign_in'
  if (fault instanceof sdk.ProtocolError)
    return fault.code === HEADER_MISMATCH ? 'stale_headers' : 'answered'
  if (fault instanceof sdk.SdkHttpError) {
    if (fault.status === 401) return 'sign_in'
    if (fault.status === 404 || isAboutSession(fault)) return 'session_lost'
    const isRefused = fault.status >= 400 && fault.status < 500 && fault.status !== 408
    return isRefused ? 'not_run' : 'broken'
  }
  if (!(fault instanceof sdk.SdkError)) return isUnreachable(fault) ? 'not_sent' : 'broken'
  if (fault.code === sdk.SdkErrorCode.RequestTimeout) return 'slow'
  const { InvalidResult, UnsupportedResultType } = sdk.SdkErrorCode
  return fault.code === InvalidResult || fault.code === UnsupportedResultType
    ? 'answered'
    : 'broken'
}

/** Some servers answer 400 instead of 404 once they do not know a session. */
const isAboutSession = ({ status, data }: { status: number; data: unknown }): boolean =>
  status === 400 && /session/i.test(asText(asRecord(data)?.text).slice(0, 1_000))

const NEVER_REACHED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])
const isUnreachable = (fault: unknown): boolean =>
  codesOf(fault).some((code) => NEVER_REACHED.has(code))

/** Whether a server that speaks only the transport of 2024 may have answered so. */
export const isForOldTransport = (fault: unknown): boolean =>
  codesOf(fault).some((code) => code === 400 || code === 404 || code === 405 || code === 501)

/** The HTTP status of a fault; undefined if there is none. */
export const statusOf = (fault: unknown): number | undefined =>
  codesOf(fault).find((code): code is number => typeof code === 'number' && code >= 400)

/** Whether a connection failed because it had no valid access token. */
export const isSignInWanted = (fault: unknown): boolean =>
  codesOf(fault).includes(401) || (fault instanceof Error && fault.name === 'UnauthorizedError')

/** Whether the server does not know the method: error -32601, or 404 from revision 2026-07-28 on. */
export function isUnknownMethod(fault: unknown): boolean {
  const codes = codesOf(fault)
  return codes.includes(METHOD_NOT_FOUND) || codes.includes(404)
}

/** A description for people, without paths, URLs and headers. */
export function explain(cause: unknown, settings: McpServerSettings): DescribedFailure {
  if (certificateFault(cause) !== null) return storedFailure('mcp_certificate_invalid')
  for (const code of codesOf(cause)) {
    if (code === 'ENOENT') return notFound(settings)
    if (code === 'EACCES') return storedFailure('mcp_command_not_allowed')
    if (code === 'ECONNREFUSED') return storedFailure('mcp_connection_refused')
    if (code === 'ENOTFOUND') return storedFailure('mcp_host_unknown')
    if (code === 401 || code === 403) return storedFailure('mcp_credentials_refused')
    if (code === 404 || code === 405) return storedFailure('mcp_wrong_address')
    if (code === 'REQUEST_TIMEOUT') return storedFailure('mcp_too_slow')
    if (code === 'CONNECTION_CLOSED') return storedFailure('mcp_ended')
  }
  return storedFailure('mcp_connection_failed')
}

/** Starting a program fails in the same way if its folder is missing. */
const notFound = ({ command = '', cwd }: McpServerSettings): DescribedFailure =>
  cwd !== undefined && !existsSync(cwd)
    ? storedFailure('mcp_folder_not_found')
    : storedFailure('mcp_command_not_found', { command: basename(command) })

/** Codes and HTTP statuses of an error and its causes, outermost last: the innermost cause says most. */
function codesOf(fault: unknown, depth = 0): unknown[] {
  if (typeof fault !== 'object' || fault === null || depth > 5) return []
  const codes: unknown[] = []
  if ('cause' in fault) codes.push(...codesOf(fault.cause, depth + 1))
  if ('data' in fault) codes.push(...codesOf(fault.data, depth + 1))
  if ('status' in fault) codes.push(fault.status)
  if ('code' in fault) codes.push(fault.code)
  return codes
}
