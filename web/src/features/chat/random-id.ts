// Random ids, also for browsers without `crypto.randomUUID` (plain HTTP from another machine).

/** A random id of 128 bits, at most 36 characters long. */
export function randomId(): string {
  // Undefined on an insecure origin, although the DOM types say otherwise.
  const { randomUUID } = crypto as { randomUUID?: () => string }
  if (randomUUID !== undefined) return randomUUID.call(crypto)
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}
