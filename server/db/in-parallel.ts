// Starts independent statements of one transaction together.

/**
 * Starts all parts at once, in this order: PostgreSQL receives their statements without waiting for each answer. Waits for
 * all of them even if one fails, because a statement that is sent later would no longer be part of the transaction.
 * @param parts functions, because a query begins only when it is awaited, and again each time.
 * @throws the error of the first part that failed.
 */
export async function inParallel(...parts: (() => PromiseLike<unknown>)[]): Promise<void> {
  const settled = await Promise.allSettled(parts.map(async (part) => await part()))
  for (const one of settled) if (one.status === 'rejected') throw one.reason
}
