// What tools pay for: requests to paid services, subject to the user's limits.
import type { FileId } from '../protocol/ids.ts'

/** A stored file that a call adds to the answer. */
export interface ProducedFile {
  id: FileId
  name: string
  mime: string
  /** Bytes. */
  size: number
}

/** What one request to a paid service cost; without a currency if the cost is unknown. */
export interface Charge {
  /** The name under which the user's usage lists it. */
  model: string
  promptTokens: number
  completionTokens: number
  currency: string
  cost: number
}

/** Paid requests of tools. The user's limits apply to them as to model calls. */
export interface Spending {
  /** Reserves the expected cost of a request; null if a limit is used up. Call `release` when the request has ended. */
  admit(expected: { currency: string; cost: number }): Promise<{
    /** Stores, in one transaction, what the request cost and that the files belong to the answer. */
    book(charge: Charge, files: readonly ProducedFile[]): Promise<void>
    release(): void
  } | null>
}
