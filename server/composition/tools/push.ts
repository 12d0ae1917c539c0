// Push notifications with their dependencies in the store: the server's key, and the runs that notifications are about.

import { z } from 'zod'
import type { SecretBox } from '../../auth/secret-box.ts'
import type { Config } from '../../config/schema.ts'
import type { Store } from '../../db/store.ts'
import type { Limits } from '../../lib/limits.ts'
import { createPush, PUSH_KEY_SETTING, type Push } from '../../messaging/push.ts'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import { readRunOptions } from '../../runs/state.ts'

/** Without `public_url` only browsers on this machine can subscribe; some push services refuse this subject. */
const LOCAL = 'https://localhost'

/** Apple's service wants an https or mailto URL with a real domain. */
const subjectOf = ({ public_url: url }: Config): string =>
  url?.startsWith('https:') === true ? url : LOCAL

/** `box` seals the server's private key in the store; `fetch` delivers. */
export const createConfiguredPush = (
  config: Config,
  store: Store,
  more: {
    box: SecretBox
    fetch: GuardedFetch
    limits: Limits
    now(): Date
    log: { warn(details: object, message: string): void }
  },
): Push => {
  const { box: secrets, ...rest } = more
  return createPush({
    ...rest,
    secrets,
    repository: store.push,
    subject: subjectOf(config),
    keys: {
      get: () => store.settings.get(PUSH_KEY_SETTING, z.string()),
      putNew: (sealed) => store.settings.putNew(PUSH_KEY_SETTING, sealed),
    },
    async findRun(id) {
      const run = await store.runs.find(id)
      if (run === undefined) return null
      // A run that refuses approvals belongs to a program, which reads the answer itself.
      const isProgram = readRunOptions(run.options).refusesApprovals === true
      return isProgram ? null : run
    },
  })
}
