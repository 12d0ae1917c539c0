// Random ids, also where the browser has no `crypto.randomUUID` (plain HTTP from another machine).

/** 128 random bits as text of at most 36 characters; unique for all practical purposes. */
export function randomId(): string {
  // The type says that it always exists; on an insecure origin it does not.
  const { randomUUID } = crypto as { randomUUID?: () => string }
  if (randomUUID !== undefined) return randomUUID.call(crypto)
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}
