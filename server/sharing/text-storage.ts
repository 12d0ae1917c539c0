// How imports and shared copies count the texts that they store.
import type { CompleteMessage } from '../db/repositories/conversations/message-import.ts'
import { ROW_BYTES } from '../db/repositories/projects/storage.ts'
import { createTurns } from '../lib/turns.ts'
import type { UserId } from '../protocol/ids.ts'

/** Each user's storage, for texts that come at once. */
export interface TextStorage {
  /**
   * @returns reserves bytes for `holder` until `release`, beside everything that the user stores; it throws the quota's
   * refusal.
   */
  claimTexts(userId: UserId, holder: string): Promise<(bytes: number) => Promise<void>>
  release(holder: string): void
}

/** What imported messages count, as the storage measures them. Works in short turns of the event loop. */
export async function textBytes(messages: readonly CompleteMessage[]): Promise<number> {
  const turn = createTurns()
  let bytes = 0
  for (const { message, steps } of messages) {
    bytes += ROW_BYTES * (1 + steps.length)
    bytes += Buffer.byteLength(message.text) + Buffer.byteLength(message.error ?? '')
    for (const { content, artifact } of steps) {
      bytes += Buffer.byteLength(content)
      if (artifact == null) continue
      bytes += Buffer.byteLength(JSON.stringify(artifact))
      await turn()
    }
  }
  return bytes
}
