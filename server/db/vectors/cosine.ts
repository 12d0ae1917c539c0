// The distance of two vectors of signed bytes.

/** The bytes of a stored vector as numbers, without a copy. */
export const signedBytes = (bytes: Buffer): Int8Array =>
  new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** 0 for the same direction, 1 for nothing in common; null for a zero vector. */
export function cosineDistance(a: Int8Array, b: Int8Array): number | null {
  let product = 0
  let lengthA = 0
  let lengthB = 0
  for (let index = 0; index < a.length; index += 1) {
    const x = a[index] ?? 0
    const y = b[index] ?? 0
    product += x * y
    lengthA += x * x
    lengthB += y * y
  }
  return lengthA === 0 || lengthB === 0 ? null : 1 - product / Math.sqrt(lengthA * lengthB)
}
