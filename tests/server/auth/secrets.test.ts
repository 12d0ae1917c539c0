// Passwords, the secret box and its key, and protection against password guessing.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createLoginGuard } from '../../../server/auth/accounts.ts'
import { createPasswords } from '../../../server/auth/passwords.ts'
import { createSecretBox } from '../../../server/auth/secret-box.ts'
import { loadSecretKeys } from '../../../server/auth/secret-keys.ts'
import { AppError } from '../../../server/errors.ts'
import { createAttemptCounts } from '../../../server/lib/local-limits.ts'

const loadSecretKey = (configured: string | undefined, folder: string): Buffer =>
  loadSecretKeys({ configured }, folder)[0] ?? Buffer.alloc(0)

describe('passwords', () => {
  const passwords = createPasswords()

  test('are stored as argon2id at the recommended cost, and only the right one matches', async () => {
    const stored = await passwords.hash('correct horse')
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await passwords.verify(stored, 'correct horse')).toBe(true)
    expect(await passwords.verify(stored, 'Correct horse')).toBe(false)
  })

  test('never match when there is no stored hash', async () => {
    expect(await passwords.verify(null, 'no account has this password')).toBe(false)
  })
})

describe('the secret box', () => {
  const box = createSecretBox(Buffer.alloc(32, 7))

  test('opens what it sealed, and seals the same text differently each time', () => {
    const sealed = box.seal('sk-κλειδί', 'model:a')
    expect(box.open(sealed, 'model:a')).toBe('sk-κλειδί')
    expect(box.seal('sk-κλειδί', 'model:a')).not.toBe(sealed)
    expect(sealed).not.toContain('sk-')
  })

  test('refuses another purpose, another key, a changed text and a text that it never sealed', () => {
    const sealed = box.seal('text', 'a')
    // Not the last character, because some of its bits encode nothing.
    const changed = `${sealed.slice(0, -4)}${sealed.at(-4) === 'A' ? 'B' : 'A'}${sealed.slice(-3)}`
    const other = createSecretBox(Buffer.alloc(32, 8))
    for (const attempt of [
      () => box.open(sealed, 'b'),
      () => other.open(sealed, 'a'),
      () => box.open(changed, 'a'),
      () => box.open('rubbish', 'a'),
      () => box.open('', 'a'),
    ])
      expect(attempt).toThrow(AppError)
  })
})

describe('the key of the installation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-key-'))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('is created once, readable by this user only, and then reused', () => {
    const first = loadSecretKey(undefined, join(folder, 'data'))
    expect(first).toHaveLength(32)
    expect(loadSecretKey(undefined, join(folder, 'data'))).toEqual(first)
    expect(statSync(join(folder, 'data/secret.key')).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700)
  })

  test('comes from the environment if it is set there, and is refused if it is short', () => {
    const key = loadSecretKey('an operator chose this text', folder)
    expect(key).toHaveLength(32)
    expect(loadSecretKey('an operator chose this text', folder)).toEqual(key)
    expect(() => loadSecretKey('short', folder)).toThrow(/at least 16/)
  })

  test('a damaged file is refused, not replaced', () => {
    loadSecretKey(undefined, folder)
    writeFileSync(join(folder, 'secret.key'), 'damaged')
    expect(() => loadSecretKey(undefined, folder)).toThrow(/secret\.key/)
    expect(readFileSync(join(folder, 'secret.key'), 'utf8')).toBe('damaged')
  })
})

describe('the login guard', () => {
  const guardOf = (now: () => number) => {
    const guard = createLoginGuard(createAttemptCounts(now))
    return (address: string, name: string, matches = false) =>
      guard.compare(address, name, async () => ({ matches }))
  }

  test('after ten failures, an address must wait until the window has passed', async () => {
    let time = 0
    const sign = guardOf(() => time)
    for (let attempt = 0; attempt < 10; attempt += 1) await sign('1.1.1.1', 'ann')
    await expect(sign('1.1.1.1', 'bob', true)).rejects.toMatchObject({
      code: 'too_many_requests',
      retryAfter: 300,
    })
    time += 5 * 60_000
    expect(await sign('1.1.1.1', 'ann')).toEqual({ matches: false })
  })

  test('failures from many addresses slow down an account, but its owner still gets an attempt from a new address', async () => {
    const sign = guardOf(() => 0)
    for (let place = 0; place < 10; place += 1) await sign(`10.0.0.${place % 5}`, 'ann')
    await expect(sign('10.0.0.1', 'ANN', true)).rejects.toBeInstanceOf(AppError)
    await sign('10.0.0.9', 'ann', true)
    expect(await sign('10.0.0.1', 'ann')).toEqual({ matches: false })
  })
})
