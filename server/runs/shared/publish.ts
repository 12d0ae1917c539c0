// Sends what happens in the log of a run to other instances: in order, one message at a time, again if one failed.
import type { RunLog } from '../log/log.ts'
import { toWire, type WireBatch, type WireNotice } from './wire.ts'

/** Approximate number of characters of text per message. */
const MAX_BATCH_CHARACTERS = 64_000
const MAX_BATCH_ENTRIES = 500
/** Maximum number of waiting notices; the oldest are dropped. */
const MAX_NOTICES = 100
/** Pause after a message was not accepted. */
const RETRY_MS = 1_000
/** Attempts to send the end of a run. The store has it in any case. */
const MAX_FINAL_TRIES = 5

/**
 * Begins with the next entry of the log; everything before it is stored.
 * @param send resolves to false if the message was not accepted; never rejects.
 * @returns a function that ends publishing once everything in the log is sent or given up.
 */
export function publishLog(
  runLog: RunLog,
  attempt: number,
  send: (batch: WireBatch) => Promise<boolean>,
  { isNew }: { isNew: boolean },
): () => void {
  let position = isNew ? 0 : runLog.entries.length
  let notices: WireNotice[] = []
  let isSending = false
  let isOver = false
  let failures = 0

  const nextBatch = (): { batch: WireBatch; next: number } => {
    const entries: WireBatch['entries'] = []
    let next = position
    for (let characters = 0; next < runLog.entries.length; next += 1) {
      const entry = runLog.entries.at(next)
      if (entry === undefined) break
      const wire = toWire(entry, runLog)
      entries.push(wire)
      characters += 'text' in wire ? wire.text.length : 1
      if (characters > MAX_BATCH_CHARACTERS || entries.length >= MAX_BATCH_ENTRIES) {
        next += 1
        break
      }
    }
    return { batch: { attempt, entries, notices }, next }
  }

  const flush = async (): Promise<void> => {
    if (isSending) return
    isSending = true
    while (position < runLog.entries.length || notices.length > 0) {
      const { batch, next } = nextBatch()
      notices = []
      if (await send(batch)) {
        position = next
        failures = 0
        continue
      }
      failures += 1
      if (isOver && failures >= MAX_FINAL_TRIES) break
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
    }
    isSending = false
  }
  const schedule = (): void => {
    if (!isSending) queueMicrotask(() => void flush())
  }
  const note = (notice: WireNotice): void => {
    notices.push(notice)
    if (notices.length > MAX_NOTICES) notices.shift()
    schedule()
  }
  runLog.observe({
    onEntries: schedule,
    onProgress: (notice) => note({ event: 'tool_progress', ...notice }),
    onRetry: (notice) => note({ event: 'retry', ...notice }),
    onSettled: (idRef) => note({ event: 'settled', id_ref: idRef }),
    onClose() {},
  })
  if (isNew) schedule()
  return () => {
    isOver = true
    schedule()
  }
}
