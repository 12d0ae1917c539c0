// Random interleavings of session renewals, and of changes that concern the last administrator; on both databases.
import { expect, test } from 'vitest'
import { createRefreshTokens } from '../../../server/auth/refresh-token.ts'
import { createSessions } from '../../../server/auth/sessions.ts'
import type { UserRow } from '../../../server/db/repositories/accounts/users.ts'
import { createStore } from '../../../server/db/store.ts'
import { AppError } from '../../../server/errors.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import { rounds, SEED } from '../../support/random.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'

const ROUNDS = process.env.FAULTS === 'full' ? 200 : 6
const HOUR_MS = 3_600_000
const SIGNED_OUT = 'signed out'

describeOnEachDatabase(`accounts under concurrency (SEED=${SEED})`, (open) => {
  /** Sessions with a clock that the test sets; `reused` lists the sessions that ended because of a replaced token. */
  async function prepare() {
    const store = createStore(await open())
    const clock = { ms: Date.parse('2026-03-31T12:00:00Z') }
    const reused: string[] = []
    const sessions = createSessions({
      sessions: store.sessions,
      audit: {
        async record(tx, actor, entry) {
          if (entry.action === 'session_reused') reused.push(String(entry.details.session))
          await store.audit.record(tx, actor, entry)
        },
      },
      refreshTokens: createRefreshTokens(() => ['a secret']),
      closeRequests: () => undefined,
      onError: (error) => {
        throw error
      },
      now: () => new Date(clock.ms),
    })
    const user = await store.users.register(
      { username: 'ada', passwordHash: 'a hash' },
      async () => ({ role: 'admin' }),
    )
    const begin = async () => {
      const started = await sessions.begin(user, 'page', { userAgent: '', address: '' }, {})
      if (started.refreshToken === null) throw new Error('a page has a refresh token')
      return { id: started.session.id, token: started.refreshToken }
    }
    /** The next token, or `SIGNED_OUT`. */
    const refresh = (token: string): Promise<string> =>
      sessions.refresh(token, '').then(
        ({ refreshToken }) => refreshToken,
        (error: unknown) => {
          if (error instanceof AppError && error.reason === 'session_ended') return SIGNED_OUT
          throw error
        },
      )
    return { clock, reused, begin, refresh }
  }

  test('tabs that share a cookie are never signed out, however many renew at once and whichever response arrives last or is lost', async () => {
    const { clock, reused, begin, refresh } = await prepare()
    for (const { random, what } of rounds(ROUNDS)) {
      let { token } = await begin()
      for (let burst = 0; burst < 6; burst += 1) {
        clock.ms += random.below(20) * HOUR_MS
        const responses = await Promise.all(
          Array.from({ length: 1 + random.below(5) }, () => refresh(token)),
        )
        // All of them get the same token, so that it does not matter whose response the browser stores last.
        expect(new Set(responses).size, what).toBe(1)
        expect(responses[0], what).not.toBe(SIGNED_OUT)
        const isLost = random.below(3) === 0
        if (!isLost) token = responses[0] ?? ''
        else {
          clock.ms += random.below(30_000)
          token = await refresh(token)
        }
      }
    }
    expect(reused).toEqual([])
  })

  test("a stolen token used before or after its owner's next renewal ends the session for both and is reported once", async () => {
    const { clock, reused, begin, refresh } = await prepare()
    for (const { random, what } of rounds(ROUNDS)) {
      const { id, token: first } = await begin()
      let owner = first
      const stolenAt = random.below(3)
      let thief = ''
      for (let step = 0; step <= 3; step += 1) {
        if (step === stolenAt) thief = owner
        clock.ms += HOUR_MS
        // Whoever renews first gets a session that ends when the other one renews.
        if (step === stolenAt && random.below(2) === 0) thief = await refresh(thief)
        clock.ms += HOUR_MS
        owner = await refresh(owner)
      }
      clock.ms += HOUR_MS
      const several = await Promise.all([refresh(thief), refresh(thief), refresh(thief)])
      expect(several, what).toEqual([SIGNED_OUT, SIGNED_OUT, SIGNED_OUT])
      expect(await refresh(owner), what).toBe(SIGNED_OUT)
      expect(
        reused.filter((one) => one === id),
        what,
      ).toHaveLength(1)
    }
  })

  test('one administrator who can sign in always remains, however accounts are demoted, disabled, enabled and deleted at once', async () => {
    const { users } = createStore(await open())
    let made = 0
    const add = (): Promise<UserRow> =>
      users.register({ username: `admin-${made++}`, passwordHash: 'a hash' }, async () => ({
        role: 'admin',
      }))
    const usable = async (): Promise<UserId[]> => {
      const { items } = await users.list({ limit: 100, role: 'admin', isActive: true })
      return items.map(({ id }) => id)
    }
    const refused = { count: 0 }
    for (const { random, what } of rounds(ROUNDS * 3)) {
      while ((await usable()).length < 3) await add()
      const all = (await users.list({ limit: 100 })).items.map(({ id }) => id)
      const change = (id: UserId): Promise<unknown> => {
        const action = random.below(5)
        if (action === 0) return users.update(id, { role: 'user' })
        if (action === 1) return users.update(id, { isActive: false })
        if (action === 2) return users.update(id, { isActive: true, role: 'admin' })
        // Like the deletion of an account: it is disabled first, and removed once its data is gone.
        if (action === 3) return users.update(id, { isActive: false }).then(() => users.remove(id))
        return users.remove(id)
      }
      const chosen = Array.from({ length: 8 }, () => random.pick(all))
      const results = await Promise.allSettled(chosen.map(change))
      for (const result of results) {
        if (result.status === 'fulfilled') continue
        expect(result.reason, what).toMatchObject({ reason: 'last_administrator' })
        refused.count += 1
      }
      expect((await usable()).length, what).toBeGreaterThan(0)
    }
    // An account that was disabled to be deleted has been enabled, and is the last one.
    const [last, ...others] = await usable()
    if (last === undefined) throw new Error('one remains')
    for (const id of others) await users.update(id, { role: 'user' })
    await expect(users.remove(last)).rejects.toMatchObject({ reason: 'last_administrator' })
    expect(await usable()).toEqual([last])
  })
})
