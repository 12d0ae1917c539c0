// The hash that binds a person's decision to the call that was shown.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** What a person decides about; a question of an MCP server has neither name nor arguments. */
export interface ShownCall {
  run_id: string
  id_ref: string
  name?: string
  arguments?: Readonly<Record<string, unknown>>
}

/**
 * SHA-256, in hex, of the call in the canonical form of JSON (RFC 8785): equal for equal values, however they are written.
 * @throws RangeError for arguments that are nested thousands of levels deep.
 */
export const callHash = ({ run_id, id_ref, name, arguments: given }: ShownCall): string =>
  createHash('sha256')
    .update(canonicalize({ arguments: given, id_ref, name, run_id }) ?? '')
    .digest('hex')
