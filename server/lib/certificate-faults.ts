// What is wrong with the certificate of a server, by the error codes of Node.

/** Why a certificate was not accepted. `untrusted`: it comes from an authority that this machine does not know. */
export type CertificateFault = 'self_signed' | 'expired' | 'other_host' | 'untrusted'

const CODES: Readonly<Record<string, CertificateFault>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'other_host',
}

/** Each fault for a person, completing "the certificate …". */
export const CERTIFICATE_FAULT_TEXTS: Readonly<Record<CertificateFault, string>> = {
  self_signed: 'is self-signed',
  expired: 'has expired or is not valid yet',
  other_host: 'belongs to another host',
  untrusted: 'comes from an authority that this machine does not trust',
}

const MAX_CAUSES = 5

/** The fault that an error, or one of its causes, names; null if it is about something else. */
export function certificateFault(error: unknown): CertificateFault | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth += 1) {
    const code = 'code' in cause && typeof cause.code === 'string' ? CODES[cause.code] : undefined
    if (code !== undefined) return code
    // Some libraries replace the code by their own and keep only the text.
    const said = /self[- ]signed certificate( in certificate chain)?/i.exec(cause.message)
    if (said !== null) return said[1] === undefined ? 'self_signed' : 'untrusted'
    if (/certificate has expired/i.test(cause.message)) return 'expired'
    if (/altnames?|does not match certificate/i.test(cause.message)) return 'other_host'
    if (/unable to (verify|get)[\w ]* certificate/i.test(cause.message)) return 'untrusted'
    cause = cause.cause
  }
  return null
}
