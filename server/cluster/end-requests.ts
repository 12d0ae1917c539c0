// Open requests of users end at every instance when their access ends at one.
import { z } from 'zod'
import { UserId } from '../protocol/ids.ts'
import type { Bus } from './bus.ts'
import type { RedisLog } from './redis.ts'

const EndMessage = z.object({
  user: UserId,
  only: z.string().optional(),
  except: z.array(z.string()).optional(),
})

/** Which requests of a user end: all, those of one credential, or those of all others. */
interface Ending {
  only?: string | undefined
  except?: readonly string[] | undefined
}

/** The open requests at this instance. */
export interface OpenRequests {
  end(user: UserId, ending?: Ending): void
  /** Looks up the credentials of all open requests again, and ends those that are no longer valid. */
  recheck(): Promise<void>
}

/**
 * After a lost message, the credentials are looked up again to find what it would have ended; later requests are refused
 * anyway.
 */
export function endEverywhere<Requests extends OpenRequests>(
  requests: Requests,
  bus: Bus,
  log: RedisLog,
): Requests {
  bus.on('end_requests', (data) => {
    const { user, ...ending } = EndMessage.parse(data)
    requests.end(user, ending)
  })
  let isChecking = false
  bus.onDoubt(() => {
    if (isChecking) return
    isChecking = true
    requests
      .recheck()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'the sessions of open requests could not be looked up'),
      )
      .finally(() => {
        isChecking = false
      })
  })
  return {
    ...requests,
    end(user: UserId, ending: Ending = {}) {
      requests.end(user, ending)
      const { only, except } = ending
      bus.send('end_requests', { user, only, except })
    },
  }
}
