// Why a request to the web failed, by the errors of Node and undici.
import { errorText } from '../errors.ts'
import { CERTIFICATE_FAULT_TEXTS, certificateFault } from '../lib/certificate-faults.ts'

/** Why a fetch failed, for callers with texts of their own. `failed` means anything else. */
export type FetchFault =
  | 'host_unknown'
  | 'connection_refused'
  | 'connection_lost'
  | 'unreachable'
  | 'timed_out'
  | 'certificate_invalid'
  | 'address_refused'
  | 'failed'

/** The address or URL may not be fetched. The message becomes the outcome's `error`. */
export class AddressRefused extends Error {}

/** A fault with its text for the model and the user. */
export type Fault = { fault: FetchFault; error: string }

/** DNS has no address for the host. */
export const HOST_UNKNOWN: Fault = {
  fault: 'host_unknown',
  error: 'The host name could not be found.',
}
const UNREACHABLE: Fault = { fault: 'unreachable', error: 'The server could not be reached.' }
const TIMED_OUT: Fault = { fault: 'timed_out', error: 'The server did not respond in time.' }
const CONNECTION_CLOSED: Fault = {
  fault: 'connection_lost',
  error: 'The server closed the connection.',
}

/** Faults by the error codes of Node and undici. */
const FAULTS: Record<string, Fault> = {
  ENOTFOUND: HOST_UNKNOWN,
  EAI_AGAIN: {
    fault: 'host_unknown',
    error: 'The host name could not be resolved. Try again later.',
  },
  ECONNREFUSED: { fault: 'connection_refused', error: 'The server refused the connection.' },
  ECONNRESET: CONNECTION_CLOSED,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ETIMEDOUT: TIMED_OUT,
  UND_ERR_CONNECT_TIMEOUT: TIMED_OUT,
  UND_ERR_SOCKET: CONNECTION_CLOSED,
  UND_ERR_HEADERS_OVERFLOW: { fault: 'failed', error: 'The server sent too many headers.' },
}

/** Describes an error by the first known code in its chain of causes. */
export function describeFault(error: unknown): Fault {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++) {
    if (cause instanceof AddressRefused) return { fault: 'address_refused', error: cause.message }
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    const known = FAULTS[code]
    if (known !== undefined) return known
    if (code.includes('CERT') || code.startsWith('ERR_TLS') || code.includes('SIGNATURE')) {
      const why = certificateFault(cause)
      const said = why === null ? 'is not valid' : CERTIFICATE_FAULT_TEXTS[why]
      return { fault: 'certificate_invalid', error: `The server's certificate ${said}.` }
    }
    if (cause.cause === undefined)
      return { fault: 'failed', error: `The request failed: ${errorText(cause)}` }
    cause = cause.cause
  }
  return { fault: 'failed', error: 'The request failed.' }
}
