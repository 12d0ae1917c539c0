// What makes a project an assistant: its icon, starters and what its conversations begin with.
import { expect, test } from 'vitest'
import { describeOnEachServer } from '../../../support/server/server.ts'
import { useTwoAccounts } from '../../../support/server/two-accounts.ts'
import { uploadFile } from '../../../support/server/uploads.ts'

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describeOnEachServer('a project as an assistant', (start) => {
  const accounts = useTwoAccounts(start)
  const { call } = accounts
  const create = async (name: string): Promise<string> =>
    (await call('POST', '/api/projects', { name })).json.data.id

  test('begins with nothing set, belongs to its owner, and keeps what is set', async () => {
    const id = await create('Cook')
    const begun = (await call('GET', `/api/projects/${id}`)).json.data
    expect(begun).toMatchObject({
      icon: null,
      starters: [],
      defaults: {},
      skills_off: [],
      role: 'own',
      owner: { name: 'ann' },
      scratch: false,
    })
    const set = {
      icon: '👩🏽‍🍳',
      starters: [{ title: 'Dinner', text: 'What shall we cook tonight?' }],
      defaults: { approval: 'auto', temperature: 0.3, max_tokens: 500, thinking_enabled: true },
      skills_off: ['plan-a-trip'],
    }
    expect((await call('PUT', `/api/projects/${id}`, set)).json.data).toMatchObject(set)
    await call('PUT', `/api/projects/${id}`, { name: 'Chef' })
    expect((await call('GET', `/api/projects/${id}`)).json.data).toMatchObject({
      ...set,
      name: 'Chef',
    })
    const { items } = (await call('GET', '/api/projects')).json.data
    expect(items.find((item: { id: string }) => item.id === id)).toMatchObject(set)
    const cleared = { icon: null, starters: [], defaults: {} }
    expect((await call('PUT', `/api/projects/${id}`, cleared)).json.data).toMatchObject(cleared)
  })

  test('gives new conversations its defaults, unless they name their own', async () => {
    const id = await create('Defaults')
    const defaults = { approval: 'auto', temperature: 0, max_tokens: 77, thinking_enabled: true }
    await call('PUT', `/api/projects/${id}`, { defaults })
    const inProject = await call('POST', '/api/conversations', { project_id: id })
    expect(inProject.json.data).toMatchObject(defaults)
    const own = { approval: 'ask', temperature: 1, max_tokens: 5, thinking_enabled: false }
    const chosen = await call('POST', '/api/conversations', { project_id: id, ...own })
    expect(chosen.json.data).toMatchObject(own)
    const outside = await call('POST', '/api/conversations', {})
    expect(outside.json.data).toMatchObject({ approval: null, temperature: null, max_tokens: null })
  })

  test('refuses values beyond the limits and changes nothing', async () => {
    const id = await create('Limits')
    const starter = { title: 'a', text: 'b' }
    const before = (await call('GET', `/api/projects/${id}`)).json.data
    for (const body of [
      { icon: '🍳🍳' },
      { icon: 'cook' },
      { icon: '' },
      { starters: Array.from({ length: 7 }, () => starter) },
      { starters: [{ ...starter, title: 'x'.repeat(61) }] },
      { starters: [{ ...starter, text: 'x'.repeat(2_001) }] },
      { starters: [{ title: ' ', text: 'b' }] },
      { defaults: { temperature: 3 } },
      { defaults: { approval: 'never' } },
      { defaults: { max_tokens: 0 } },
    ])
      expect((await call('PUT', `/api/projects/${id}`, body)).status, JSON.stringify(body)).toBe(
        400,
      )
    expect((await call('GET', `/api/projects/${id}`)).json.data).toEqual(before)
  })

  test('may show an uploaded image, which then stays; not a text, nor a file of somebody else', async () => {
    const id = await create('Picture')
    const upload = async (name: string, content: string | Uint8Array, token: string) =>
      (await uploadFile(accounts.server.url, name, content, { token })).json.data.id
    const image = await upload('icon.png', PIXEL, accounts.ann)
    expect((await call('PUT', `/api/projects/${id}`, { icon: image })).json.data.icon).toBe(image)
    expect((await call('DELETE', `/api/files/${image}`)).status).toBe(409)
    const text = await upload('icon.txt', 'no picture', accounts.ann)
    const foreign = await upload('icon.png', PIXEL, accounts.bob)
    for (const icon of [text, foreign])
      expect((await call('PUT', `/api/projects/${id}`, { icon })).status).toBe(400)
    await call('PUT', `/api/projects/${id}`, { icon: null })
    expect((await call('DELETE', `/api/files/${image}`)).status).toBe(200)
  })
})
