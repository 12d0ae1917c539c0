// The presets of providers in the wizard, and how a local one is found.
import { expect, test } from 'vitest'
import {
  environmentKeyFor,
  readEnvironmentKeys,
  withEnvironmentKey,
} from '../../../../server/llm/environment-keys.ts'
import { listPresets } from '../../../../server/llm/model-presets.ts'
import { refusingUrl } from '../../../support/provider/upstream.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useFreshUpstream } from '../../../support/provider/use-upstream.ts'

const upstream = useFreshUpstream()

test('the presets name well-known providers, with Ollama first if it runs on this machine', async () => {
  const absent = await listPresets(new Map(), (await refusingUrl()).replace('/v1', ''))
  expect(absent.map(({ id }) => id)).toEqual([
    'openai',
    'anthropic',
    'deepseek',
    'glm',
    'gemini',
    'mistral',
    'xai',
    'qwen',
    'kimi',
    'doubao',
    'siliconflow',
    'hunyuan',
    'minimax',
    'openrouter',
    'ollama',
  ])
  for (const { id, key_url: page } of absent) expect(page === null).toBe(id === 'ollama')
  upstream.program((request) =>
    request.path === '/api/version' ? turn.json(200, { version: '0.9.0' }) : undefined,
  )
  const found = await listPresets(new Map(), `http://127.0.0.1:${upstream.port}`)
  expect(found[0]).toMatchObject({ id: 'ollama', detected: true, api_url: upstream.url })
})

test('keys that providers have in the environment are offered by the name of the variable, and go to no other address', async () => {
  const keys = readEnvironmentKeys({
    ANTHROPIC_API_KEY: ' sk-ant-of-the-environment ',
    GOOGLE_API_KEY: 'second name',
    OPENAI_API_KEY: '',
  })
  const presets = await listPresets(keys, (await refusingUrl()).replace('/v1', ''))
  expect(presets.slice(0, 2).map(({ id, key_variable: name }) => [id, name])).toEqual([
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['gemini', 'GOOGLE_API_KEY'],
  ])
  expect(presets.slice(2).every(({ key_variable: name }) => name === null)).toBe(true)
  expect(JSON.stringify(presets)).not.toContain('of-the-environment')
  const model = { api_url: 'https://api.anthropic.com/v1/messages' }
  expect(withEnvironmentKey(model, keys)).toEqual({
    ...model,
    api_key: 'sk-ant-of-the-environment',
  })
  for (const own of [{ api_key: 'own' }, { headers: { 'x-api-key': 'own' } }])
    expect(withEnvironmentKey({ ...model, ...own }, keys)).toEqual({ ...model, ...own })
  for (const url of [
    'http://api.anthropic.com/v1',
    'https://api.anthropic.com:8443/v1',
    'https://api.anthropic.com.example.org/v1',
    'https://proxy.example.org/https://api.anthropic.com/v1',
    'https://api.openai.com/v1',
    'not a URL',
  ])
    expect(environmentKeyFor(keys, url), url).toBeUndefined()
})
