// Distinguishing binary data from text.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { looksBinary } from '../../../server/lib/encodings.ts'

test('random bytes without NUL count as binary, and text in national encodings does not', () => {
  const noise = randomBytes(4_000).map((byte) => (byte === 0 ? 1 : byte))
  expect(looksBinary(noise)).toBe(true)
  expect(looksBinary(Buffer.from('naïve café\r\n\tfin', 'latin1'))).toBe(false)
  expect(looksBinary(Buffer.from([0xc4, 0xe3, 0xba, 0xc3, 0x0a]))).toBe(false)
  expect(looksBinary(Buffer.from('一段文字。'.repeat(2_000)))).toBe(false)
})
