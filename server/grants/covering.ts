// Where a grant holds, which tool it is for, and which calls of a run it covers.

import { createHash } from 'node:crypto'
import type { CallPlace, GrantRow } from '../db/repositories/runs/grants.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { createTurns } from '../lib/turns.ts'
import { ConversationId, ProjectId, type UserId } from '../protocol/ids.ts'
import type { GrantScope } from '../protocol/runs/grant.ts'
import type { RunOrigin } from '../protocol/runs/origin.ts'
import type { RiskLevel } from '../protocol/runs/run-event.ts'
import { ScheduleId } from '../protocol/schedules/schedule.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import { EXEC } from './argument-forms.ts'
import { type CallTest, compileMatch } from './match-call.ts'

// Where a grant holds: the user's conversation, project or schedule.

/** A place of the user. */
export type GrantPlace = { name: string } & (
  | { conversationId: ConversationId }
  | { projectId: ProjectId }
  | { scheduleId: ScheduleId }
)

/** @throws AppError `conversation_not_found`, `project_not_found` or `schedule_not_found`. */
export async function findPlace(
  userId: UserId,
  { scope, scope_id }: { scope: GrantScope; scope_id: string },
  store: Pick<Store, 'conversations' | 'projects' | 'schedules'>,
): Promise<GrantPlace> {
  if (scope === 'schedule') {
    const id = ScheduleId.safeParse(scope_id)
    const schedule = id.success ? await store.schedules.find(userId, id.data) : undefined
    if (schedule === undefined) throw appError('schedule_not_found')
    return { scheduleId: schedule.id, name: schedule.name }
  }
  if (scope === 'project') {
    const id = ProjectId.safeParse(scope_id)
    const project = id.success ? await store.projects.find(userId, id.data) : undefined
    if (project === undefined || project.scratch) throw appError('project_not_found')
    return { projectId: project.id, name: project.name }
  }
  const id = ConversationId.safeParse(scope_id)
  const conversation = id.success ? await store.conversations.find(userId, id.data) : undefined
  if (conversation === undefined) throw appError('conversation_not_found')
  return { conversationId: conversation.id, name: conversation.title }
}

/** The place of a stored grant, as the API names it. */
export function scopeOf({
  conversationId,
  projectId,
  scheduleId,
}: Pick<GrantRow, 'conversationId' | 'projectId' | 'scheduleId'>): {
  scope: GrantScope
  scope_id: string
} {
  if (scheduleId !== null) return { scope: 'schedule', scope_id: scheduleId }
  if (projectId !== null) return { scope: 'project', scope_id: projectId }
  return { scope: 'conversation', scope_id: conversationId ?? '' }
}

/** The schedule that started a run, also through its hook; null if none did. What people send in its conversation is theirs. */
export function scheduleOf({ type, id }: RunOrigin): ScheduleId | null {
  if (type !== 'schedule' && type !== 'hook') return null
  return ScheduleId.safeParse(id).data ?? null
}

// Identifies what a tool says about itself, so that a grant ends when that changes.

/**
 * The identity of a tool's description and schema. For tools of MCP servers the part of their grant key behind `@`, so that
 * remembered approvals and grants end together. Computed anew each time, because the description of a tool may change.
 */
export const toolPrintOf = (tool: ToolDefinition): string =>
  tool.grantKey === undefined
    ? createHash('sha256')
        .update(JSON.stringify([tool.description, tool.parameters]))
        .digest('hex')
        .slice(0, 16)
    : partsOfKey(tool.grantKey).print

/** The name and the identity in a key under which an approval was remembered; '' for a built-in tool. */
export function partsOfKey(key: string): { name: string; print: string } {
  const at = key.indexOf('@')
  return at === -1 ? { name: key, print: '' } : { name: key.slice(0, at), print: key.slice(at + 1) }
}

/** The key under which versions without the table of grants remember an approval; see `partsOfKey`. */
export const keyOf = ({ tool, toolPrint }: Pick<GrantRow, 'tool' | 'toolPrint'>): string =>
  toolPrint === null ? tool : `${tool}@${toolPrint}`

/** A call that would need a person. */
interface CoveredCall {
  tool: ToolDefinition
  /** The checked arguments with their defaults. */
  value: Readonly<Record<string, unknown>>
  /** The risk level of this call. */
  riskLevel: RiskLevel
  tainted: boolean
}

/** Whether a grant may let a call of this risk through at all. */
export const mayCover = (
  { evenTainted }: Pick<GrantRow, 'evenTainted'>,
  {
    tool,
    riskLevel,
    tainted,
  }: Pick<CoveredCall, 'riskLevel' | 'tainted'> & {
    tool: Pick<ToolDefinition, 'name'>
  },
): boolean => !tainted || (evenTainted && riskLevel === 'medium' && tool.name !== EXEC)

/** Whether the tool is no longer the one that the grant was made for. */
export const isStale = (
  { toolPrint }: Pick<GrantRow, 'toolPrint'>,
  tool: ToolDefinition,
  /** `toolPrintOf(tool)`, for those that test many grants of a tool. */
  print = toolPrintOf(tool),
): boolean =>
  // A tool of an MCP server is whatever the server says; a grant that does not know what that was fits none.
  toolPrint === null ? tool.grantKey !== undefined : toolPrint !== print

/** Whether a test holds for these arguments; arguments that are nested too deeply to be compared match nothing. */
export function holds(test: CallTest, value: CoveredCall['value']): boolean {
  try {
    return test(value)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** The grants that hold in one run. */
export interface RunGrants {
  /** The id of the oldest grant that covers the call; null if there is none. Whether it still holds is known once it is used. */
  covering(call: CoveredCall): Promise<string | null>
  /** Whether a call of this attempt has used the grant. */
  hasUsed(id: string): boolean
  /** Call it when the use of a grant is stored, or when the grant was refused because it has ended. */
  settled(id: string, isUsed: boolean): void
}

/** What a run remembers of a grant, which never changes. */
interface Loaded {
  grant: Pick<GrantRow, 'toolPrint' | 'evenTainted'>
  test: CallTest
}

/** Grants that are read in one statement. */
const READ_AT_ONCE = 20

/** Create one per attempt of a run: it reads and compiles each match once. Reads nothing before it is asked. */
export function createRunGrants({
  store,
  place,
  retry,
  now,
}: {
  store: Pick<Store, 'grants'>
  place: CallPlace
  /** Repeats a read while the store is unavailable. */
  retry<T>(read: () => Promise<T>): Promise<T>
  now(): Date
}): RunGrants {
  /** Of each tool, oldest first. */
  const known = new Map<string, Map<string, Loaded>>()
  const used = new Set<string>()
  const ended = new Set<string>()

  function knownOf(tool: string): Map<string, Loaded> {
    const loaded = known.get(tool) ?? new Map<string, Loaded>()
    known.set(tool, loaded)
    return loaded
  }

  /** Reads those of these grants that are not known. */
  async function load(tool: ToolDefinition, ids: readonly string[]): Promise<void> {
    const loaded = knownOf(tool.name)
    const missing = ids.filter((id) => !loaded.has(id))
    const rows = await retry(() => store.grants.findAll(missing))
    // A map remembers the order in which it was filled.
    for (const row of rows.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id)))
      loaded.set(row.id, {
        grant: { toolPrint: row.toolPrint, evenTainted: row.evenTainted },
        test: compileMatch(tool, row.match),
      })
  }

  return {
    async covering(call) {
      const { tool, value } = call
      const print = toolPrintOf(tool)
      const turn = createTurns()
      const loaded = knownOf(tool.name)
      const tested = new Set<string>()
      const firstOf = async (ids: Iterable<string>): Promise<string | null> => {
        for (const id of ids) {
          const found = loaded.get(id)
          if (found === undefined) continue
          tested.add(id)
          const { grant, test } = found
          if (!isStale(grant, tool, print) && mayCover(grant, call) && holds(test, value)) return id
          const next = turn()
          if (next !== undefined) await next
        }
        return null
      }
      // Newer grants cannot be older than these, so nothing needs to be read if one of them covers the call.
      const remembered = await firstOf(loaded.keys())
      if (remembered !== null) return remembered
      const open = await retry(() => store.grants.openFor(place, tool.name, now()))
      // Also those that another call of the run has loaded meanwhile.
      const untested = open.filter((id) => !tested.has(id) && !ended.has(id))
      for (let from = 0; from < untested.length; from += READ_AT_ONCE) {
        const some = untested.slice(from, from + READ_AT_ONCE)
        await load(tool, some)
        const found = await firstOf(some)
        if (found !== null) return found
      }
      return null
    },
    hasUsed: (id) => used.has(id),
    settled(id, isUsed) {
      if (isUsed) {
        used.add(id)
        return
      }
      // It never holds again.
      ended.add(id)
      for (const loaded of known.values()) loaded.delete(id)
    },
  }
}
