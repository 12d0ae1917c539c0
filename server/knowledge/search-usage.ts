// Calls of embeddings and reranking are reserved and counted like model calls.
import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import type { AppError } from '../errors.ts'
import { type CallBudgets, reserveCall } from '../lib/reserve-call.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'

/** A call that may be made. `add` stores what it took. Call `release` when it is over, also when it failed. */
interface AdmittedCall {
  add(model: string, tokens: number): Promise<void>
  release(): void
}

/** Who pays for a call: who asks a question, or whoever stores the project in which documents are made searchable. */
export type Payer = { userId: UserId } | { storerOf: ProjectId }

/** What the calls of one search model cost. */
export interface SearchUsage {
  /** Reserves the estimated tokens of a call; null when the payer may not spend any more. */
  admit(payer: Payer, estimate: number): Promise<AdmittedCall | null>
  /**
   * Reserves the estimated tokens of a call that this user makes.
   * @throws AppError with the limit that is used up.
   */
  admitUser(userId: UserId, estimate: number): Promise<AdmittedCall>
}

/** @param price for a million tokens; undefined: nothing is known. */
export function createSearchUsage({
  database,
  store,
  budgets,
  price,
  now,
}: {
  database: Pick<Database, 'write'>
  store: Pick<Store, 'projects' | 'tokenUsage'>
  budgets: CallBudgets<UserId, AppError>
  price: { currency: string; input: number } | undefined
  now(): Date
}): SearchUsage {
  const priceOf = (tokens: number): { currency: string; cost: number } =>
    price === undefined
      ? { currency: '', cost: 0 }
      : { currency: price.currency, cost: (tokens * price.input) / 1e6 }

  async function add(userId: UserId, model: string, tokens: number): Promise<void> {
    const entry = {
      userId,
      model,
      promptTokens: tokens,
      completionTokens: 0,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      ...priceOf(tokens),
    }
    await database.write((tx) => store.tokenUsage.add(tx, now(), entry))
  }

  const reserve = (userId: UserId, tokens: number, onRefused?: (refusal: AppError) => void) =>
    reserveCall(budgets, userId, { tokens, ...priceOf(tokens) }, onRefused)

  return {
    async admit(payer, estimate) {
      const userIdOf = async (): Promise<UserId | undefined> =>
        'userId' in payer ? payer.userId : await store.projects.ownerOf(payer.storerOf)
      const userId = await userIdOf()
      if (userId === undefined) return null
      const release = await reserve(userId, estimate)
      if (release === null) return null
      return {
        release,
        async add(model, tokens) {
          // The project may have been deleted or handed over meanwhile.
          const current = await userIdOf()
          if (current !== undefined) await add(current, model, tokens)
        },
      }
    },
    async admitUser(userId, estimate) {
      let refusal: AppError | undefined
      const release = await reserve(userId, estimate, (given) => {
        refusal = given
      })
      if (release === null) throw refusal ?? new Error('a refused call has no reason')
      return { release, add: (model, tokens) => add(userId, model, tokens) }
    },
  }
}
