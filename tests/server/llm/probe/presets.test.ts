// The presets of providers in the wizard, and how a local one is found.
import { expect, test } from 'vitest'
import { listPresets } from '../../../../server/llm/model-presets.ts'
import { refusingUrl } from '../../../support/provider/upstream.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useFreshUpstream } from '../../../support/provider/use-upstream.ts'

const upstream = useFreshUpstream()

test('the presets name well-known providers, with Ollama first if it runs on this machine', async () => {
  const absent = await listPresets((await refusingUrl()).replace('/v1', ''))
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
  const found = await listPresets(`http://127.0.0.1:${upstream.port}`)
  expect(found[0]).toMatchObject({ id: 'ollama', detected: true, api_url: upstream.url })
})
