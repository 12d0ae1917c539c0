// A person approves a call and every later one of its tool: for the rest of the run, or in the whole conversation.
import type { Writer } from '../db/database.ts'
import type { GrantRow } from '../db/repositories/runs/grants.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { newId } from '../lib/ids.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import { partsOfKey } from './covering.ts'
import { auditedGrant, type GrantDependencies } from './create.ts'

/** What was approved. */
interface Remembered {
  run: Pick<RunRow, 'id' | 'userId' | 'conversationId'>
  /** Whether it holds only for the run. */
  isForRun: boolean
  /** The tool's name, or the key that also identifies what the tool said about itself. */
  key: string
  /** The approval request. */
  createdFrom: string
  at: Date
}

/** Stores the grant with its audit entry, in the transaction of the decision. Null if there is one already. */
export async function rememberTool(
  tx: Writer,
  { run, isForRun, key, createdFrom, at }: Remembered,
  actor: Actor,
  { store }: Pick<GrantDependencies, 'store'>,
): Promise<GrantRow | null> {
  const { name, print } = partsOfKey(key)
  const row: GrantRow = {
    id: newId(),
    userId: run.userId,
    conversationId: run.conversationId,
    projectId: null,
    scheduleId: null,
    runId: isForRun ? run.id : null,
    tool: name,
    // The schema of a built-in tool is the operator's choice, who updates the server.
    toolPrint: print === '' ? null : print,
    match: null,
    evenTainted: false,
    expiresAt: null,
    maxUses: null,
    uses: 0,
    lastUsedAt: null,
    createdAt: at,
    createdFrom,
  }
  if (await store.grants.isRemembered(tx, row)) return null
  await store.grants.insert(tx, row)
  await store.audit.record(tx, actor, { action: 'grant_created', at, details: auditedGrant(row) })
  return row
}
