// Models that administrators have added.
import { beforeAll, expect, test } from 'vitest'
import { createStore, type Store } from '../../../../server/db/store.ts'
import { describeOnEachDatabase } from '../../../support/store/databases.ts'

describeOnEachDatabase('stored models', (open) => {
  let store: Store
  beforeAll(async () => {
    store = createStore(await open())
  })

  test('one of several concurrent additions of a model id succeeds, and concurrent changes all take effect', async () => {
    const model = { id: 'local', api_url: 'http://127.0.0.1:11434/v1' }
    const created = await Promise.all(
      Array.from({ length: 5 }, (_, n) => store.models.create(model, `sealed ${n}`)),
    )
    expect(created.filter((one) => one !== null)).toHaveLength(1)
    await Promise.all([
      store.models.change('local', (before) => ({
        ...before,
        settings: { ...before.settings, name: 'Local' },
      })),
      store.models.change('local', (before) => ({
        ...before,
        settings: { ...before.settings, vision: true },
      })),
      store.models.change('local', (before) => ({ ...before, sealedApiKey: null })),
    ])
    expect(await store.models.list()).toMatchObject([
      { settings: { ...model, name: 'Local', vision: true }, sealedApiKey: null },
    ])
    const refused = store.models.change('local', () => {
      throw new Error('refused')
    })
    await expect(refused).rejects.toThrow('refused')
    expect(await store.models.change('other', (before) => before)).toBeUndefined()
    expect(await store.models.remove('local')).toBe(true)
    expect(await store.models.remove('local')).toBe(false)
  })
})
