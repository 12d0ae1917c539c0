// Reserving the estimated amount of a paid call in a user's budget, before it is made.

/** What calls have used, or may use. */
export interface Amount {
  tokens: number
  cost: number
  currency: string
}

/** The budgets of users for paid calls. */
export interface CallBudgets<User, Refusal> {
  /** @param unstored what calls in progress have reserved. */
  join(
    user: User,
    unstored: () => Amount,
    onRefused?: (refusal: Refusal) => void,
  ): { admitCall(reserve: () => void): Promise<boolean>; release(): void }
}

/** Returns what ends the reservation; null, after `onRefused`, if the budget is used up. */
export async function reserveCall<User, Refusal>(
  budgets: CallBudgets<User, Refusal>,
  user: User,
  estimate: Amount,
  onRefused?: (refusal: Refusal) => void,
): Promise<(() => void) | null> {
  let reserved: Amount = { tokens: 0, currency: '', cost: 0 }
  const { admitCall, release } = budgets.join(user, () => reserved, onRefused)
  const isAdmitted = await admitCall(() => {
    reserved = estimate
  }).catch((error: unknown) => {
    release()
    throw error
  })
  if (isAdmitted) return release
  release()
  return null
}
