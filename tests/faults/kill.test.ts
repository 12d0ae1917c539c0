// kill -9 at any moment of a run: nothing acknowledged is lost, nothing is done twice, every run ends.

import { describe, test } from 'vitest'
import { useCrashRounds } from '../support/faults/crash-rounds.ts'
import { randomFrom, SEED } from '../support/random.ts'
import { DIALECTS } from '../support/store/dialects.ts'

/** `npm run test:faults` runs the long form, `npm test` a short one. */
const KILLS = process.env.FAULTS === 'full' ? 100 : 2
/** The approximate number of events of a run. */
const EVENTS = 40
const random = randomFrom(SEED)

for (const dialect of DIALECTS)
  describe(`kill -9 at random moments (${dialect})`, () => {
    const crash = useCrashRounds(dialect)

    test(`${KILLS} kills lose nothing and repeat nothing (SEED=${SEED})`, {
      timeout: 3_600_000,
    }, async () => {
      for (let round = 0; round < KILLS; round += 1) {
        // The first server and every fourth after it are killed at the first event, the others at a random later one.
        const wanted = round % 4 === 0 ? 1 : 1 + random.below(EVENTS)
        await crash.round(`Task ${dialect} ${round}`, {
          async die(server, stream) {
            await stream?.next(({ event }) => event === 'done' || stream.events.length >= wanted)
            await server.kill('SIGKILL')
          },
        })
      }
      await crash.expectUsageCountedOnce()
    })
  })
