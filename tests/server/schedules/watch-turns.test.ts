// Watching: slow pages that one user watches do not delay what others watch.
import { expect, test } from 'vitest'
import { createStore } from '../../../server/db/store.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import type { ScheduleId } from '../../../server/protocol/schedules/schedule.ts'
import type { ScheduleSettings } from '../../../server/schedules/settings.ts'
import { lookAtWatch, type WatchDependencies } from '../../../server/schedules/watch.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'

const watching = (page: string): ScheduleSettings => ({
  ...{ text: 'Look.', model: null, skills: [], when: { every: '5m' }, zone: null },
  ...{ conversation: 'same', quiet: false, checks: [], catchUp: 'one', overlap: 'skip' },
  ...{ limits: {}, approval: null, notify: null },
  watch: { page },
})

describeOnEachDatabase('pages that schedules watch', (open) => {
  test('of one user, however slow and many, leave places for those of others', async () => {
    const store = createStore(await open())
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    const dependencies: WatchDependencies = {
      store,
      makeDiff: () => Promise.reject(new Error('nothing is compared')),
      async readPage(url) {
        if (url.includes('slow')) await until
        return { ok: true, data: { text: 'the page' } }
      },
      readFiles: () => Promise.reject(new Error('no files are watched')),
      log: { warn() {} },
    }
    const look = (userId: UserId, page: string) =>
      lookAtWatch(
        { id: newId<ScheduleId>(), userId, projectId: null },
        watching(page),
        dependencies,
        new AbortController().signal,
      )
    const [one, other] = [newId<UserId>(), newId<UserId>()]
    const slow = Array.from({ length: 20 }, (_, n) => look(one, `https://slow.test/${n}`))
    const seen = { kind: 'seen', content: 'the page', input: null }
    expect(await look(other, 'https://quick.test/')).toEqual(seen)
    release()
    expect(await Promise.all(slow)).toEqual(slow.map(() => seen))
  })
})
