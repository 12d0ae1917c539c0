// What the tools of a run spend on paid services: admitted under the user's limits, stored with the files that were paid
// for.
import type { LimitFunction } from 'p-limit'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Spending } from '../../tools/spending.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { WriteGroup } from '../group-commit.ts'
import type { Budgets } from './budgets.ts'
import type { RunUsage } from './usage.ts'

/** What the tools of a run spend on paid services. */
export interface RunSpending extends Spending {
  /** Call it when the run has ended. */
  release(): void
}

interface Dependencies extends Pick<ChatDependencies, 'store'> {
  budgets: Budgets
  usage: Pick<RunUsage, 'addCharge' | 'takeBatch'>
  writes: WriteGroup
  /** The queue of all writes that contain the run's totals. */
  queue: LimitFunction
}

/** Create one per attempt of a run. */
export function createSpending(
  run: RunRow,
  { store, budgets, usage, writes, queue }: Dependencies,
): RunSpending {
  /** Expected cost of requests in progress, in the currency of the one configured service. */
  const reserved = { tokens: 0, currency: '', cost: 0 }
  const budget = budgets.join(run.userId, () => reserved)
  return {
    async admit({ currency, cost }) {
      const isAdmitted = await budget.admitCall(() => {
        reserved.currency = currency
        reserved.cost += cost
      })
      if (!isAdmitted) return null
      let isOpen = true
      return {
        book: (charge, files) =>
          queue(async () => {
            usage.addCharge(charge)
            const batch = await usage.takeBatch()
            const stored = writes.commit((tx) =>
              batch.write(tx, {}, () => store.attachments.append(tx, run.messageId, files)),
            )
            await batch.settle(stored)
          }),
        release() {
          if (isOpen) reserved.cost -= cost
          isOpen = false
        },
      }
    },
    release: budget.release,
  }
}
