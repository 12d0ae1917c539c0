// Reads the record of a run: its model calls with their requests, its tool calls, and when each was stored.
import { type StepRow, toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import type { RunId } from '../../protocol/ids.ts'
import type { Price } from '../../protocol/models/catalog.ts'
import type {
  RecordedCall,
  RecordedExchange,
  RecordedPart,
  RunRecord,
  StoredEvent,
} from '../../protocol/runs/run-record.ts'
import { callsOf, RecordPiece } from './pieces.ts'
import { readPart } from './prompt-parts.ts'
import { type ComparedCall, comparePrompts } from './read-record/prompt-change.ts'
import type { RunRecords } from './run-records.ts'

/** Maximum characters of a tool call's arguments, and of its result. */
const MAX_TOOL_CHARACTERS = 200_000

/** Reads the record of a run. The caller has checked that the run belongs to the user. */
export type RunRecordReader = (run: RunRow) => Promise<RunRecord>

interface Dependencies {
  store: Pick<Store, 'runRecords' | 'steps' | 'runs'>
  records: Pick<RunRecords, 'flush' | 'keepDays'>
  /** Resolves to null if the model has no price or no longer exists. */
  priceOf(model: string): Promise<Price | null>
}

type Calls = Pick<RecordedCall, 'number' | 'exchanges'>[]

/** Reads the record of a run; the caller has checked that the user may see it. */
export function createRunRecordReader({ store, records, priceOf }: Dependencies): RunRecordReader {
  async function recorded(id: RunId): Promise<{ calls: Calls; stored: StoredEvent[] }> {
    const pieces = (await store.runRecords.list(id)).map(({ record }) => RecordPiece.parse(record))
    // A later attempt repeats the calls that an earlier one did not store.
    const calls = new Map(pieces.flatMap(callsOf).map((call) => [call.number, call]))
    return {
      calls: [...calls.values()].toSorted((one, other) => one.number - other.number),
      stored: pieces.flatMap((piece) => piece.stored),
    }
  }

  /** The last call of the run before this one. */
  async function callBefore(run: RunRow): Promise<{ run: RunId; call: Calls[number] } | null> {
    const id = await store.runRecords.previousRun(run.conversationId, run.createdAt)
    const call = id === undefined ? undefined : (await recorded(id)).calls.at(-1)
    return id === undefined || call === undefined ? null : { run: id, call }
  }

  async function partsOf(run: RunRow, calls: Calls): Promise<Map<string, RecordedPart>> {
    const hashes = new Set(calls.flatMap(({ exchanges }) => exchanges.flatMap(hashesOf)))
    const rows = await store.runRecords.parts(run.conversationId, hashes)
    const parts = rows.map(
      async ({ hash, characters, content }): Promise<[string, RecordedPart]> => {
        const json = await readPart(content)
        return [hash, { json, characters }]
      },
    )
    return new Map(await Promise.all(parts))
  }

  async function withChanges(
    run: RunRow,
    calls: Calls,
    before: Awaited<ReturnType<typeof callBefore>>,
    parts: ReadonlyMap<string, RecordedPart>,
  ): Promise<RecordedCall[]> {
    const jsonOf = (hash: string): string | undefined => parts.get(hash)?.json
    const compared = (exchange: RecordedExchange): ComparedCall => ({ exchange, jsonOf })
    const changed: RecordedCall[] = []
    for (const [at, call] of calls.entries()) {
      const previous = at === 0 ? before : { run: run.id, call: calls[at - 1] }
      const [old, own] = [previous?.call?.exchanges.at(-1), call.exchanges.at(-1)]
      const comparison =
        old === undefined || own === undefined
          ? null
          : comparePrompts(compared(old), compared(own), await priceOf(own.model))
      const number = previous?.call?.number
      changed.push({
        ...call,
        change:
          comparison === null || previous == null || number === undefined
            ? null
            : { previous: { run_id: previous.run, call: number }, ...comparison },
      })
    }
    return changed
  }

  return async (run) => {
    await records.flush(run.id)
    const [{ calls, stored }, before, steps, approvals] = await Promise.all([
      recorded(run.id),
      callBefore(run),
      store.steps.list(run.messageId),
      store.runs.approvals(run.id),
    ])
    const all = await partsOf(run, before === null ? calls : [before.call, ...calls])
    const withChange = await withChanges(run, calls, before, all)
    const needed = new Set([
      ...calls.flatMap(({ exchanges }) => exchanges.flatMap(hashesOf)),
      ...withChange.flatMap(({ change }) => change?.first?.before ?? []),
    ])
    return {
      run_id: run.id,
      calls: withChange,
      parts: Object.fromEntries([...all].filter(([hash]) => needed.has(hash))),
      tools: toolsOf(steps),
      stored: commitsOf(run, stored, approvals),
      keep_days: records.keepDays,
    }
  }
}

const hashesOf = ({ body }: RecordedExchange): string[] =>
  body.flatMap((field) => ('part' in field ? [field.part] : 'parts' in field ? field.parts : []))

/** The tool calls of an answer with their results. */
function toolsOf(rows: readonly StepRow[]): RunRecord['tools'] {
  const steps = rows.map(toStep)
  const results = new Map(
    steps.flatMap((step) => (step.type === 'tool_result' ? [[step.id_ref, step.content]] : [])),
  )
  return steps.flatMap((step) => {
    if (step.type !== 'tool_call') return []
    const result = results.get(step.id_ref) ?? null
    const characters = step.arguments.length + (result?.length ?? 0)
    const tool = {
      id_ref: step.id_ref,
      name: step.name,
      arguments: step.arguments.slice(0, MAX_TOOL_CHARACTERS),
      result: result?.slice(0, MAX_TOOL_CHARACTERS) ?? null,
    }
    const kept = tool.arguments.length + (tool.result?.length ?? 0)
    return [kept < characters ? { ...tool, characters } : tool]
  })
}

/** What was recorded while the run was performed, completed from its rows. */
function commitsOf(
  run: RunRow,
  recorded: readonly StoredEvent[],
  approvals: Awaited<ReturnType<Store['runs']['approvals']>>,
): StoredEvent[] {
  const { attempt, owner: instance } = run
  const has = (what: StoredEvent['what']): boolean => recorded.some((one) => one.what === what)
  const noted = (what: StoredEvent['what'], at: Date | null, idRef?: string): StoredEvent[] =>
    at === null
      ? []
      : [
          {
            what,
            at: at.toISOString(),
            ...(idRef === undefined ? {} : { id_ref: idRef }),
            attempt: what === 'accepted' ? 1 : attempt,
            instance: what === 'accepted' ? null : instance,
          },
        ]
  const all = [
    ...recorded,
    ...(has('accepted') ? [] : noted('accepted', run.createdAt)),
    ...(has('end') ? [] : noted('end', run.endedAt)),
    ...approvals.flatMap(({ idRef, createdAt, decidedAt }) => [
      ...noted('approval', createdAt, idRef),
      ...noted('decision', decidedAt, idRef),
    ]),
  ]
  return all.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}
