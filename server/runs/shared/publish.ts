// Sends what happens in the log of a run to other instances: in order, one message at a time, from memory when it failed.
import type { RunLog } from '../log/log.ts'
import { toWire, type WireBatch, type WireNotice } from './wire.ts'

/** Characters of text in one message, roughly. */
const MAX_BATCH_CHARACTERS = 64_000
const MAX_BATCH_ENTRIES = 500
/** Notices that wait; older ones are dropped. */
const MAX_NOTICES = 100
/** Pause after a message that was not accepted. */
const RETRY_MS = 1_000
/** The end of a run is tried this many times; the store has it anyway. */
const MAX_FINAL_TRIES = 5
/** While nobody follows the run on another instance, what happens is gathered for so long: each message costs CPU and Redis. */
const GATHER_MS = 200

export interface LogPublisher {
  /** Somebody begins to follow the run on another instance: what is gathered leaves at once. */
  hurry(): void
  /** Ends it, once everything that is in the log is sent or given up. */
  end(): void
}

/**
 * Begins with the next entry of the log: what it holds already is stored.
 * @param send resolves to false when the message was not accepted; never rejects.
 * @param isFollowed whether somebody follows the run on another instance, as far as is known here.
 */
export function publishLog(
  runLog: RunLog,
  attempt: number,
  send: (batch: WireBatch) => Promise<boolean>,
  { isNew, isFollowed }: { isNew: boolean; isFollowed(): boolean },
): LogPublisher {
  let position = isNew ? 0 : runLog.entries.length
  let notices: WireNotice[] = []
  let isSending = false
  let isOver = false
  let failures = 0
  let gathering: NodeJS.Timeout | undefined

  const isUrgent = (): boolean => isOver || runLog.terminal !== null || isFollowed()
  const isWaiting = (): boolean => position < runLog.entries.length || notices.length > 0
  const takeBatch = (): { batch: WireBatch; next: number; isAll: boolean } => {
    const entries: WireBatch['entries'] = []
    let next = position
    for (let characters = 0; next < runLog.entries.length; next += 1) {
      const entry = runLog.entries[next]
      if (entry === undefined) break
      const wire = toWire(entry, runLog)
      entries.push(wire)
      characters += 'text' in wire ? wire.text.length : 1
      if (characters > MAX_BATCH_CHARACTERS || entries.length >= MAX_BATCH_ENTRIES) {
        next += 1
        break
      }
    }
    const isAll = next === runLog.entries.length
    return { batch: { attempt, entries, notices }, next, isAll }
  }

  const flush = async (): Promise<void> => {
    if (isSending) return
    clearTimeout(gathering)
    gathering = undefined
    isSending = true
    while (isWaiting()) {
      const { batch, next, isAll } = takeBatch()
      notices = []
      if (await send(batch)) {
        position = next
        failures = 0
        if (isAll && !isUrgent()) break
        continue
      }
      failures += 1
      if (isOver && failures >= MAX_FINAL_TRIES) break
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
    }
    isSending = false
    // After the last try nothing more is sent.
    if (failures === 0 && isWaiting()) schedule()
  }
  const schedule = (): void => {
    if (isSending) return
    if (isUrgent()) queueMicrotask(() => void flush())
    else gathering ??= setTimeout(() => void flush(), GATHER_MS)
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
  return {
    hurry: schedule,
    end() {
      isOver = true
      schedule()
    },
  }
}
