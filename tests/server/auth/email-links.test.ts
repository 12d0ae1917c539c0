// Links by email for a new password: requests by others never keep the owner from getting one; on both databases.
import { expect, test } from 'vitest'
import { createAccountLinks } from '../../../server/auth/account-links.ts'
import { createEmailLinks } from '../../../server/auth/email-links.ts'
import { NO_PASSWORD } from '../../../server/auth/reset-rule.ts'
import { createStore } from '../../../server/db/store.ts'
import { createRateLimit } from '../../../server/lib/local-limits.ts'
import { localeTexts } from '../../../server/lib/locale-texts.ts'
import { languages } from '../../support/page/texts.ts'
import { randomFrom, SEED } from '../../support/random.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'

const MINUTE_MS = 60_000
const ROUNDS = 40
const HOME = '203.0.113.1'
const EMAIL = 'ada@example.org'

describeOnEachDatabase('links for a new password by email', (open) => {
  /** An account with a confirmed address, whose mails are in `mails`, and a clock that the test sets. */
  async function prepare(passwordHash: string) {
    const database = await open()
    const store = createStore(database)
    const clock = { ms: Date.parse('2026-03-31T12:00:00Z') }
    const now = () => new Date(clock.ms)
    const links = createAccountLinks(store, now)
    const mails: { to: string[]; subject: string; text: string }[] = []
    const user = await store.users.register(
      { username: 'ada', passwordHash, email: EMAIL },
      async () => ({ role: 'user' }),
    )
    await database.write((tx) => store.confirmedAddresses.add(tx, user.id, EMAIL, now()))
    const emailLinks = createEmailLinks({
      links,
      addresses: store.confirmedAddresses,
      write: database.write,
      mail: {
        publicUrl: 'https://chat.example.org',
        async send(mail) {
          mails.push(mail)
          return { ok: true }
        },
      },
      allowsPassword: () => true,
      limits: { rateLimit: (_name, options) => createRateLimit(options, () => clock.ms) },
      log: { warn: () => undefined },
      now,
    })
    const ask = async (address: string, email = EMAIL) => {
      await emailLinks.forgotPassword(email, { address, language: 'en' })
      await emailLinks.settled()
    }
    const tokens = () => mails.map(({ text }) => /\/join#([\w=-]+)/.exec(text)?.[1] ?? '')
    const valid = async () => {
      const found = await Promise.all(tokens().map((token) => links.find(token)))
      return found.filter((link) => link !== undefined).length
    }
    return { store, user, links, emailLinks, clock, mails, ask, tokens, valid }
  }

  test("requests for somebody else's account from several networks use up only those networks' emails, and all links work until one is used", async () => {
    const { store, user, links, mails, ask, tokens, valid } = await prepare('a hash')
    for (const network of [1, 2])
      for (let time = 0; time < 5; time += 1) await ask(`198.51.100.${network}`)
    expect(mails).toHaveLength(6)
    await ask(HOME)
    expect(mails).toHaveLength(7)
    expect(mails.every(({ to }) => to[0] === EMAIL)).toBe(true)
    // A mailbox gets only so many, and what it got stays valid.
    for (let network = 3; network < 9; network += 1)
      for (let time = 0; time < 3; time += 1) await ask(`198.51.100.${network}`)
    expect(mails).toHaveLength(12)
    expect(await valid()).toBe(12)
    await store.users.update(
      user.id,
      { passwordHash: 'another hash' },
      { before: async (tx) => (await links.reset(tx, tokens()[6] ?? '')).use(tx) },
    )
    expect(await valid()).toBe(0)
  })

  test('changing the address or the password invalidates open links', async () => {
    const { store, user, ask, valid } = await prepare('a hash')
    await ask(HOME)
    expect(await valid()).toBe(1)
    await store.users.update(user.id, { role: 'user', avatar: null })
    expect(await valid()).toBe(1)
    await store.users.update(user.id, { email: 'ada@example.net' })
    expect(await valid()).toBe(0)
  })

  test('a link for a new password works for an hour', async () => {
    const { clock, ask, valid } = await prepare('a hash')
    await ask(HOME)
    clock.ms += 59 * MINUTE_MS
    expect(await valid()).toBe(1)
    clock.ms += 2 * MINUTE_MS
    expect(await valid()).toBe(0)
  })

  test('an account without a password is told to sign in without one', async () => {
    const { mails, ask, tokens } = await prepare(NO_PASSWORD)
    await ask(HOME)
    await ask(HOME, 'nobody@example.org')
    expect(mails).toHaveLength(1)
    expect(mails[0]?.text).toContain('single sign-on')
    expect(tokens()).toEqual([''])
  })

  test.each([
    ['a hash', 'reset'],
    [NO_PASSWORD, 'noPassword'],
  ] as const)(
    'a person with %s as password reads the email in their language',
    async (hash, kind) => {
      const { emailLinks, mails } = await prepare(hash)
      for (const [number, language] of languages().entries()) {
        const address = `198.51.100.${number}`
        await emailLinks.forgotPassword(EMAIL, { address, language })
        await emailLinks.settled()
        const { subject, text } = localeTexts(language, 'messages')[kind]
        expect(mails[number]?.subject).toBe(subject)
        expect(mails[number]?.text).toContain(text.replace('{{name}}', 'ada'))
      }
      expect(new Set(mails.map(({ subject }) => subject)).size).toBe(10)
    },
  )

  test(`whatever others request, an owner who requests a link gets an email or already has a valid link (SEED=${SEED})`, async () => {
    const { below } = randomFrom(SEED)
    const { clock, mails, ask, valid } = await prepare('a hash')
    let dropped = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      clock.ms += (3 + below(8)) * MINUTE_MS
      for (let asked = below(8); asked > 0; asked -= 1) await ask(`198.51.100.${below(12)}`)
      const before = mails.length
      await ask(HOME)
      if (mails.length > before) continue
      dropped += 1
      expect(await valid()).toBeGreaterThan(0)
    }
    expect(dropped).toBeGreaterThan(0)
    // A mailbox gets twelve an hour.
    expect(mails.length).toBeLessThanOrEqual(12 * Math.ceil((ROUNDS * 10) / 60 + 1))
  })
})
