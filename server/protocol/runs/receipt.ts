// The receipt of an answer: what it did, from what is stored about its calls, never from its words.
import { z } from 'zod'
import { PlanItem } from './plan.ts'
import { Usage } from './usage.ts'

const count = z.int().min(0)

/** Files that a receipt lists. An answer may change more. */
export const MAX_RECEIPT_FILES = 5_000
/** Entries of every other list of a receipt. */
export const MAX_RECEIPT_ENTRIES = 10_000

const list = <Entry extends z.ZodType>(entry: Entry) => z.array(entry).max(MAX_RECEIPT_ENTRIES)

/** A file that the answer changed, as the difference between before and after the answer. */
export const ReceiptFile = z.object({
  path: z.string(),
  change: z.enum(['added', 'modified', 'deleted']),
  /** Lines; null for what cannot be compared line by line, and while the answer is being written. */
  added: count.nullable(),
  removed: count.nullable(),
  /** The first change of the file by the answer: restoring it brings back what was there before. Null if it is gone. */
  checkpoint_id: z.string().nullable(),
})
export type ReceiptFile = z.infer<typeof ReceiptFile>

/** What an answer and its sub-agents did. */
export const Receipt = z
  .object({
    calls: z.object({
      /** Tool calls, those of sub-agents included. */
      total: count,
      failed: count,
      rejected: count,
      /** Nobody decided before the deadline. */
      expired: count,
      /** Still waited for a person when the run ended. */
      parked: count,
    }),
    files: z.array(ReceiptFile).max(MAX_RECEIPT_FILES),
    commands: list(
      z.object({
        command: z.string(),
        /** Null if it was killed. */
        exit_code: z.int().nullable(),
        id_ref: z.string(),
      }),
    ),
    sent: list(
      z.object({
        /** A conversation id or `channel:<name>`. */
        to: z.string(),
        /** Null: on its way, or unknown. */
        delivered: z.boolean().nullable(),
      }),
    ),
    /** Facts added to the memory. */
    remembered: list(z.string()),
    /** Ids of the schedules that it created or changed. */
    scheduled: list(z.string()),
    sources: z.object({
      /** Successful calls of tools that read. */
      read: count,
      /** Different sources that the answer cites. */
      cited: count,
    }),
    /** Steps of the plan that are neither done nor dropped. */
    unfinished: list(PlanItem),
    /** Failed calls that no later successful call of the same tool with the same target made good. */
    unresolved: list(z.object({ id_ref: z.string(), name: z.string(), error: z.string() })),
    /** Ids of the grants that let calls through. */
    grants_used: list(z.string()),
    usage: Usage.nullable(),
    /** A copy from an export: it cannot be computed here. */
    imported: z.boolean().optional(),
  })
  .meta({ id: 'Receipt' })
export type Receipt = z.infer<typeof Receipt>

/** The receipt in four numbers. */
export const ReceiptCounts = z
  .object({ files: count, commands: count, sent: count, unresolved: count })
  .meta({ id: 'ReceiptCounts' })
export type ReceiptCounts = z.infer<typeof ReceiptCounts>

/** What a message says about its receipt. */
export const ReceiptSummary = ReceiptCounts.extend({
  /** Whether the answer used a tool that can do harm (risk medium or high). */
  acted: z.boolean(),
  /** Whether anything is different afterwards: files, messages, commands that succeeded, memory, schedules. */
  changed: z.boolean(),
}).meta({ id: 'ReceiptSummary' })
export type ReceiptSummary = z.infer<typeof ReceiptSummary>

/** What a changed path contained before and after an answer, as hashes; null for what is no file. */
export const CountedFile = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  added: count.nullable(),
  removed: count.nullable(),
})
export type CountedFile = z.infer<typeof CountedFile>

/**
 * What is stored with an answer. Receipts are computed from the tables; this holds what the tables lose (counted lines,
 * checkpoints that are removed in time), and the whole receipt of an imported answer.
 */
export const StoredReceipt = z.object({
  summary: ReceiptSummary,
  files: z.array(ReceiptFile),
  counted: z.array(CountedFile),
  copy: Receipt.optional(),
})
export type StoredReceipt = z.infer<typeof StoredReceipt>

/** The counts of a receipt. */
export const countsOf = ({ files, commands, sent, unresolved }: Receipt): ReceiptCounts => ({
  files: files.length,
  commands: commands.length,
  sent: sent.length,
  unresolved: unresolved.length,
})

/** Whether anything is different after the answer. */
export const hasChanged = (receipt: Receipt): boolean =>
  receipt.files.length > 0 ||
  receipt.sent.length > 0 ||
  receipt.commands.some(({ exit_code: code }) => code === 0) ||
  receipt.remembered.length > 0 ||
  receipt.scheduled.length > 0

/** What is stored with an imported answer: its checkpoints are not here. @param acted as in `ReceiptSummary`. */
export function importedReceipt(receipt: Receipt, acted: boolean): StoredReceipt {
  const files = receipt.files.map((file) => ({ ...file, checkpoint_id: null }))
  const copy = { ...receipt, files, imported: true }
  return {
    summary: { ...countsOf(copy), acted, changed: hasChanged(copy) },
    files,
    counted: [],
    copy,
  }
}
