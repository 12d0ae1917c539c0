// Guesses whether bytes are a binary file.
import { isUtf8 } from 'node:buffer'

const SAMPLE_BYTES = 8_192

/**
 * True for NUL bytes, and for too many control characters that text does not use: more than one in ten in valid UTF-8, more
 * than one in two hundred otherwise.
 */
export function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  if (sample.includes(0)) return true
  let odd = 0
  for (const byte of sample) if (isOddControl(byte)) odd++
  return odd > sample.length / (isUtf8(withoutCutCharacter(sample)) ? 10 : 200)
}

const isOddControl = (byte: number): boolean =>
  byte === 127 || (byte < 32 && ![7, 8, 9, 10, 12, 13, 27].includes(byte))

/** The sample without a multi-byte character that is cut off at its end. */
export function withoutCutCharacter(sample: Uint8Array): Uint8Array {
  if (sample.length < SAMPLE_BYTES) return sample
  let end = sample.length
  while (end > sample.length - 4 && ((sample[end - 1] ?? 0) & 0xc0) === 0x80) end--
  return sample.subarray(0, Math.max(0, end - 1))
}
