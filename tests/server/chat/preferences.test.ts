// Instructions, models, tools and memory of a user and of a project: what a model receives of them.
import { expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'

const upstream = await useUpstream()

describeOnEachServer('preferences', (start) => {
  const accounts = useTwoAccounts(start, {
    models: [
      { id: 'first', api_url: upstream.url },
      { id: 'second', api_url: upstream.url },
    ],
    titles: 'off',
  })
  const { call } = accounts

  /** Sends a message in a new conversation; returns what the model received. */
  const ask = async (conversation: object = {}, token = accounts.ann) => {
    upstream.enqueue(turn.text('Yes.'))
    const { json } = await call('POST', '/api/conversations', conversation, token)
    const path = `/api/conversations/${json.data.id}/messages`
    expect((await call('POST', path, { text: 'Hello', stream: false }, token)).status).toBe(200)
    const request = upstream.requests.at(-1)
    return {
      model: request?.model,
      system: String(request?.messages[0]?.content),
      tools: JSON.stringify(request?.body.tools),
    }
  }

  test('are empty at first, keep the fields that a change does not name, and are separate for each user', async () => {
    const none = {
      instructions: '',
      disabled_tools: [],
      hidden_models: [],
      model_order: [],
      saved_prompts: [],
      ask: [{ through: 'push', after: 30, detail: 'name' }],
      skills_off: [],
      time_zone: '',
    }
    expect((await call('GET', '/api/preferences')).json.data).toEqual(none)
    await Promise.all([
      call('PATCH', '/api/preferences', { instructions: ' Answer in rhymes. ' }),
      call('PATCH', '/api/preferences', { disabled_tools: ['get_weather'] }),
      call('PATCH', '/api/preferences', { hidden_models: ['second'], unknown: 1 }),
    ])
    const changed = (await call('GET', '/api/preferences')).json.data
    expect(changed).toEqual({
      ...none,
      instructions: 'Answer in rhymes.',
      disabled_tools: ['get_weather'],
      hidden_models: ['second'],
    })
    expect((await call('GET', '/api/preferences', undefined, accounts.bob)).json.data).toEqual(none)
    for (const body of [{ instructions: 'x'.repeat(20_001) }, { disabled_tools: [''] }])
      expect((await call('PATCH', '/api/preferences', body)).status).toBe(400)
    expect((await call('GET', '/api/preferences')).json.data).toEqual(changed)
  })

  test('apply to all conversations of the user: instructions and disabled tools', async () => {
    const mine = await ask()
    expect(mine.system).toContain('Answer in rhymes.')
    expect(mine.tools).not.toContain('"get_weather"')
    const theirs = await ask({}, accounts.bob)
    expect(theirs.system).not.toContain('Answer in rhymes.')
    expect(theirs.tools).toContain('"get_weather"')
  })

  test('of a project apply only to its conversations: instructions, model, tools and memory', async () => {
    await call('PUT', '/api/memory', { content: 'Ann likes pelicans.' })
    const { json } = await call('POST', '/api/projects', { name: 'Birds' })
    expect(json.data).toMatchObject({ instructions: '', model: null, uses_memory: true })
    const before = await ask({ project_id: json.data.id })
    expect(before.system).toContain('Ann likes pelicans.')
    expect(before.model).toBe('first')

    const path = `/api/projects/${json.data.id}`
    const unknown = await call('PUT', path, { model: 'nobody' })
    expect(unknown.status).toBe(400)
    const settings = {
      instructions: 'Name each bird in Latin.',
      model: 'second',
      disabled_tools: ['calculator'],
      uses_memory: false,
    }
    expect((await call('PUT', path, settings)).json.data).toMatchObject(settings)
    expect((await call('PUT', path, { name: 'Sea birds' })).json.data).toMatchObject(settings)

    const inside = await ask({ project_id: json.data.id })
    expect(inside.system).toContain('Name each bird in Latin.')
    expect(inside.system).toContain('Answer in rhymes.')
    expect(inside.system).not.toContain('pelicans')
    expect(inside.model).toBe('second')
    expect(inside.tools).not.toContain('"calculator"')
    expect(inside.tools).not.toContain('"get_weather"')
    expect((await ask({ project_id: json.data.id, model: 'first' })).model).toBe('first')

    const outside = await ask()
    expect(outside.system).not.toContain('Latin')
    expect(outside.system).toContain('pelicans')
    expect(outside.tools).toContain('"calculator"')
  })
})
