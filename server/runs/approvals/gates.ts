// Which calls need a person, and which of them a grant lets through: the rules for calls of models and of apps alike.
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import type { RunGrants } from '../../grants/covering.ts'
import type { RiskLevel } from '../../protocol/runs/run-event.ts'
import type { Approvals } from '../../tools/approval.ts'
import { needsApproval } from '../../tools/risk.ts'
import { waitsForOthers } from '../requests.ts'
import type { RunOptions } from '../state.ts'
import type { Taint } from './taint.ts'

interface Dependencies {
  run: Pick<RunRow, 'projectId'>
  mode: RunOptions['approval']
  taint: Pick<Taint, 'isTainted'> & {
    readonly addresses: Pick<Taint['addresses'], 'unknown' | 'hasHost'>
  }
  grants: Pick<RunGrants, 'covering'>
  store: Pick<Store, 'projects'>
  /** Repeats a read while the store is unavailable. */
  retry<T>(read: () => Promise<T>): Promise<T>
}

/** The rules of one run. */
export function createGates({
  run,
  mode,
  taint,
  grants,
  store,
  retry,
}: Dependencies): Pick<Approvals, 'isNeeded' | 'grantFor' | 'newAddresses' | 'allowsRedirect'> {
  const isForOthers = (call: { riskLevel: RiskLevel }): Promise<boolean> =>
    retry(() => waitsForOthers(run, call, store))
  return {
    isNeeded: async ({ asksAlways, ...tool }) =>
      (asksAlways === true && mode !== 'auto') ||
      needsApproval({ ...tool, mode, tainted: taint.isTainted() }) ||
      (await isForOthers(tool)),

    // Grants are of the person of the run, who may not decide what waits for others.
    grantFor: async (call) =>
      // What a conversation with text from outside puts on the calendar is asked for, whatever was granted.
      (call.tool.category === 'schedule' && taint.isTainted()) || (await isForOthers(call))
        ? null
        : await grants.covering({ ...call, tainted: taint.isTainted() }),

    newAddresses: async (addresses) =>
      mode !== 'auto' && taint.isTainted() ? await taint.addresses.unknown(addresses) : [],

    allowsRedirect: async ({ hostname }) =>
      mode === 'auto' || !taint.isTainted() || (await taint.addresses.hasHost(hostname)),
  }
}
