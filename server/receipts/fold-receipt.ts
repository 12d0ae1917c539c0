// Folds what is stored about an answer into its receipt. Pure, and never reads the answer's words.
import canonicalize from 'canonicalize'
import type { CheckpointFile, PathContent } from '../db/tables/projects/checkpoints.ts'
import type { Citation } from '../protocol/conversations/citation.ts'
import { fieldsOf, parseJson, textIn } from '../protocol/read-json.ts'
import type { RequestState } from '../protocol/runs/approval.ts'
import type { CallOutcome } from '../protocol/runs/call-outcome.ts'
import type { PlanItem } from '../protocol/runs/plan.ts'
import {
  type CountedFile,
  MAX_RECEIPT_ENTRIES,
  MAX_RECEIPT_FILES,
  type Receipt,
} from '../protocol/runs/receipt.ts'
import type { Usage } from '../protocol/runs/usage.ts'
import { isReadingTool } from '../protocol/tool-names/reading-tools.ts'
import { canonicalToolName } from '../protocol/tool-names/tool-aliases.ts'

/** A call of the answer or of one of its sub-agents. */
export interface LedgerCall {
  idRef: string
  /** As the model called the tool. */
  name: string
  /** JSON text, as the model wrote it. */
  arguments: string
  /** Null until it has a result. */
  outcome: CallOutcome | null
  /** The grant that let it through. */
  grantId?: string | null
}

/** One path of one of the answer's checkpoints. */
export type LedgerChange = CheckpointFile & { checkpointId: string }

/** What is stored about one answer. */
export interface Ledger {
  /** In the order of the calls; those of sub-agents follow the call that started them. */
  calls: readonly LedgerCall[]
  /** The states of the approval requests of its run. */
  requests: readonly RequestState[]
  hasEnded: boolean
  /** Grants that calls used, those of sub-agents included. */
  grants: readonly string[]
  /** In the order of the changes. */
  changes: readonly LedgerChange[]
  /** The state of each delivery that is still stored, by id. */
  deliveries: ReadonlyMap<string, string>
  /** The conversation to which messages without an address go. */
  conversationId: string
  plan: readonly PlanItem[]
  citations: readonly Citation[]
  usage: Usage | null
  /** Lines that were counted before, by path. */
  counted: readonly CountedFile[]
}

/** Computes the receipt. */
export function foldReceipt(ledger: Ledger): Receipt {
  const counts = new Map(ledger.counted.map((file) => [countKey(file), file]))
  const settled = ledger.calls.map(describeCall)
  const states = (wanted: RequestState): number =>
    ledger.requests.filter((state) => state === wanted).length
  return {
    calls: {
      total: settled.length,
      failed: settled.filter(({ outcome }) => isFailed(outcome)).length,
      rejected: states('rejected'),
      expired: states('expired'),
      parked: states('void') + (ledger.hasEnded ? states('pending') : 0),
    },
    files: netChanges(ledger.changes).map(({ path, change, checkpointId, before, after }) => {
      const lines = counts.get(countKey({ path, before: hashOf(before), after: hashOf(after) }))
      return {
        path,
        change,
        added: lines?.added ?? null,
        removed: lines?.removed ?? null,
        checkpoint_id: checkpointId,
      }
    }),
    commands: bounded(
      settled.flatMap(({ name, given, outcome, idRef }) =>
        name === 'exec' && outcome?.exit_code !== undefined
          ? [
              {
                command: textIn(given.command) ?? '',
                exit_code: outcome.exit_code,
                id_ref: idRef,
              },
            ]
          : [],
      ),
    ),
    sent: bounded(
      settled.flatMap(({ name, given, outcome }) => {
        if (name !== 'message' || outcome === null) return []
        const to = textIn(given.to)?.trim() ?? ledger.conversationId
        if (outcome.message_id !== undefined) return [{ to, delivered: true }]
        if (outcome.delivery_id === undefined) return []
        const status = ledger.deliveries.get(outcome.delivery_id) ?? outcome.delivery_status
        return [
          { to, delivered: status === 'delivered' ? true : status === 'failed' ? false : null },
        ]
      }),
    ),
    remembered: bounded(
      settled.flatMap(({ outcome }) => (outcome?.fact === undefined ? [] : [outcome.fact])),
    ),
    scheduled: bounded([
      ...new Set(
        settled.flatMap(({ outcome }) =>
          outcome?.success === true && outcome.schedule_id !== undefined
            ? [outcome.schedule_id]
            : [],
        ),
      ),
    ]),
    sources: {
      read: settled.filter(({ name, outcome }) => outcome?.success === true && isReadingTool(name))
        .length,
      cited: new Set(ledger.citations.map(({ source }) => source)).size,
    },
    unfinished: ledger.plan.filter(({ state }) => state === 'open' || state === 'doing'),
    unresolved: bounded(unresolvedOf(settled)),
    grants_used: bounded([
      ...new Set([
        ...ledger.calls.flatMap(({ grantId }) => (grantId == null ? [] : [grantId])),
        ...ledger.grants,
      ]),
    ]),
    usage: ledger.usage,
  }
}

const bounded = <Entry>(entries: readonly Entry[]): Entry[] => entries.slice(0, MAX_RECEIPT_ENTRIES)

/** Equal for the same path with the same contents before and after. */
export const countKey = ({
  path,
  before,
  after,
}: Pick<CountedFile, 'path' | 'before' | 'after'>): string => JSON.stringify([path, before, after])

/** A call with the arguments that it ran with. */
interface DescribedCall {
  idRef: string
  /** The tool's own name, never an alias. */
  name: string
  given: Readonly<Record<string, unknown>>
  target: string
  outcome: CallOutcome | null
}

function describeCall({
  idRef,
  name: called,
  arguments: text,
  outcome,
}: LedgerCall): DescribedCall {
  const name = canonicalToolName(called)
  const given = outcome?.arguments ?? fieldsOf(parseJson(text))
  return { idRef, name, given, target: targetOf(name, given, text), outcome }
}

const isFailed = (outcome: CallOutcome | null): outcome is CallOutcome =>
  outcome !== null && !outcome.success && !outcome.skipped

/** Arguments that say what a call is about, in the order in which they are looked for. */
const TARGETS = ['path', 'url', 'urls', 'to', 'command', 'source'] as const

/** What a call is about, for comparing it with other calls of the same tool. */
function targetOf(name: string, given: Readonly<Record<string, unknown>>, text: string): string {
  for (const key of TARGETS) {
    const value = given[key]
    if (value === undefined || value === null) continue
    return `${key} ${canonicalOf(normalOf(key, value), String(value))}`
  }
  // A message without an address goes to its own conversation.
  if (name === 'message') return 'to'
  return `arguments ${canonicalOf(given, text)}`
}

function normalOf(key: (typeof TARGETS)[number], value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => normalOf(key, one)).sort()
  if (typeof value !== 'string') return value
  if (key === 'path')
    return value
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/')
  if (key === 'url' || key === 'urls') {
    const address = value.trim()
    return URL.canParse(address) ? new URL(address).href : address
  }
  return key === 'to' ? value.trim() : value
}

/** The value in the canonical form of JSON; `otherwise` for one that is nested too deeply. */
function canonicalOf(value: unknown, otherwise: string): string {
  try {
    return canonicalize(value) ?? otherwise
  } catch {
    return otherwise
  }
}

/** Failed calls that no later successful call of the same tool with the same target followed. */
function unresolvedOf(calls: readonly DescribedCall[]): Receipt['unresolved'] {
  const repaired = new Set<string>()
  const found: Receipt['unresolved'] = []
  for (const { idRef, name, target, outcome } of calls.toReversed()) {
    const key = `${name} ${target}`
    if (outcome?.success === true) repaired.add(key)
    else if (isFailed(outcome) && !repaired.has(key))
      found.push({ id_ref: idRef, name, error: outcome.error ?? '' })
  }
  return found.reverse()
}

/** How a path differs after all changes of an answer. */
export interface NetChange {
  path: string
  change: CheckpointFile['change']
  /** The first checkpoint of the answer that has the path. */
  checkpointId: string
  before: PathContent | null
  after: PathContent | null
}

/**
 * One entry per path that differs after the changes, in the order of their first change. Folders are
 * left out, and what is more than a receipt lists.
 */
export function netChanges(changes: readonly LedgerChange[]): NetChange[] {
  const paths = new Map<string, NetChange & { isMove: boolean }>()
  for (const { path, change, checkpointId, before, after, movedTo, movedFrom } of changes) {
    const first = paths.get(path)
    const isMove = (movedTo ?? movedFrom) !== undefined || first?.isMove === true
    if (first === undefined) paths.set(path, { path, change, checkpointId, before, after, isMove })
    else paths.set(path, { ...first, after, isMove })
  }
  const all = [...paths.values()].flatMap(({ isMove, ...net }): NetChange[] => {
    const { before, after } = net
    const isFolder = (after ?? before)?.kind === 'directory'
    if (isSame(before, after) || (isFolder && !isMove)) return []
    const change = before === null ? 'added' : after === null ? 'deleted' : 'modified'
    return [{ ...net, change }]
  })
  return all.slice(0, MAX_RECEIPT_FILES)
}

const isSame = (one: PathContent | null, other: PathContent | null): boolean =>
  (one === null && other === null) ||
  (one !== null && other !== null && one.kind === other.kind && contentOf(one) === contentOf(other))

const contentOf = (content: PathContent): string =>
  content.kind === 'file'
    ? `${content.hash} ${content.mode}`
    : content.kind === 'link'
      ? content.target
      : ''

/** The hash of a file's content; null for everything else. */
export const hashOf = (content: PathContent | null): string | null =>
  content?.kind === 'file' ? content.hash : null
