// The plan of a run: stored with its answer, emitted to its listeners, and told to the model when a person has changed it.
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { LlmMessage } from '../llm/client.ts'
import { parseJson } from '../protocol/read-json.ts'
import { type Plan, type PlanItem, PlanItems } from '../protocol/runs/plan.ts'
import type { PlanKeeper } from '../tools/definition.ts'
import type { PerformedRun } from './performed-run.ts'

/** The plan of a run that this process performs. */
export interface RunPlan extends PlanKeeper {
  /** What the model must know before its next iteration: the plan as a person has changed it; null if nobody has. */
  takeNote(): Promise<string | null>
}

/** The arguments of a call that a person has changed. */
const PlanArguments = z.object({ items: PlanItems })

/**
 * Create one per attempt.
 * @param isUsed whether an earlier attempt has made a plan. A run without one runs no statement.
 */
export function createRunPlan(
  { active, run, writes, retry, dependencies }: PerformedRun,
  isUsed: boolean,
): RunPlan {
  const { plans, runs, users } = dependencies.store
  let isThere = isUsed
  /** The plan as the model knows it; undefined if that is unknown, after a restart. */
  let known: Plan | null | undefined = isUsed ? undefined : null

  const isNews = (stored: Plan | null): stored is Plan =>
    stored !== null && stored.edited_by !== null && !isEqual(stored, known ?? null)

  return {
    async replace(items, wasAsked) {
      let edited: Plan | null = null
      const editor = wasAsked ? await retry(() => editorOf(items)) : null
      const plan: Plan = { items: [...items], edited_by: editor }
      await writes.commit(async (tx) => {
        await runs.lockAttempt(tx, run)
        const stored = await plans.find(tx, run.messageId)
        // After a restart, a call may come before the first note: then nobody knows whether the model has seen the change.
        edited = isNews(stored) ? stored : null
        if (edited === null) await plans.set(tx, run.messageId, plan)
      })
      isThere = true
      known = edited ?? plan
      if (edited !== null) return { outcome: 'kept', plan: edited }
      active.runLog.appendEvent({ event: 'plan', run_id: run.id, ...plan })
      return { outcome: editor === null ? 'stored' : 'edited', plan }
    },

    async takeNote() {
      if (!isThere) return null
      const stored = await retry(() => plans.read(run.messageId))
      const note = isNews(stored) ? noteOf(stored.items) : null
      known = stored
      // A person may have changed it through another instance, or before a restart, which forgets what was emitted.
      if (stored !== null && !isEqual(lastEmitted(), stored))
        active.runLog.appendEvent({ event: 'plan', run_id: run.id, ...stored })
      return note
    },
  }

  /** Who has made these items of a plan that waited for approval; null if they are the model's own. */
  async function editorOf(items: readonly PlanItem[]): Promise<Plan['edited_by']> {
    const approvals = await runs.approvals(run.id)
    const changed = approvals.findLast(
      ({ status, decidedArguments }) =>
        status === 'approved' &&
        decidedArguments !== null &&
        isDeepStrictEqual(PlanArguments.safeParse(parseJson(decidedArguments)).data?.items, items),
    )
    if (changed === undefined || changed.decidedBy === null) return null
    const person = await users.find(changed.decidedBy)
    return person === undefined ? null : { id: person.id, name: person.username }
  }

  function lastEmitted(): Plan | null {
    const event = active.runLog.entries.findLastEvent((one) => one.event === 'plan')?.event
    return event?.event === 'plan' ? { items: event.items, edited_by: event.edited_by } : null
  }
}

const isEqual = (one: Plan | null, other: Plan | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

const noteOf = (items: readonly PlanItem[]): string =>
  `The user has changed the plan while you worked. Follow it as it is now:\n${JSON.stringify(
    items.map(({ id, text, state }) => ({ id, text, state })),
  )}`

/**
 * Adds what the model must know to the last message, which has not been sent yet, so that nothing that a provider has cached
 * changes.
 */
export function withNote(messages: readonly LlmMessage[], note: string): LlmMessage[] {
  const last = messages.at(-1)
  if (last === undefined || last.role === 'assistant' || last.role === 'system')
    return [...messages, { role: 'user', content: note }]
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${note}` }]
}
