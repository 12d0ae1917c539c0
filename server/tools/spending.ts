// What tools pay for: requests to paid services, under the limits of the user.
import type { FileId } from '../protocol/ids.ts'

/** A stored file that a call adds to the answer. */
export interface ProducedFile {
  id: FileId
  name: string
  mime: string
  /** Bytes. */
  size: number
}

/** What one request to a paid service cost; no currency: nobody knows. */
export interface Charge {
  /** Under which name the user's usage lists it. */
  model: string
  promptTokens: number
  completionTokens: number
  currency: string
  cost: number
}

/** Paid requests of tools, under the limits of the user as those to models are. */
export interface Spending {
  /** Reserves the expected cost of a request; null: a limit is used up. Call `release` when the request is over. */
  admit(expected: { currency: string; cost: number }): Promise<{
    /** Stores, in one transaction, what the request cost and that the files belong to the answer. */
    book(charge: Charge, files: readonly ProducedFile[]): Promise<void>
    release(): void
  } | null>
}
