// The providers that the first-run page offers by name. Any other provider is added by its URL.
import { request } from 'undici'
import type { ModelPreset } from '../../protocol/catalog.ts'

const OLLAMA = 'http://127.0.0.1:11434'
const DETECT_MS = 800

const PRESETS: readonly ModelPreset[] = [
  { id: 'openai', name: 'OpenAI', api_url: 'https://api.openai.com/v1', detected: false },
  { id: 'anthropic', name: 'Anthropic', api_url: 'https://api.anthropic.com/v1', detected: false },
  { id: 'deepseek', name: 'DeepSeek', api_url: 'https://api.deepseek.com/v1', detected: false },
  {
    id: 'glm',
    name: 'GLM (bigmodel.cn)',
    api_url: 'https://open.bigmodel.cn/api/paas/v4',
    detected: false,
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    api_url: 'https://openrouter.ai/api/v1',
    detected: false,
  },
]

/** All presets. If Ollama runs on this machine, it comes first and is marked. Never throws. */
export async function listPresets(ollamaUrl = OLLAMA): Promise<ModelPreset[]> {
  const detected = await isOllama(ollamaUrl)
  const ollama = { id: 'ollama', name: 'Ollama', api_url: `${ollamaUrl}/v1`, detected }
  return detected ? [ollama, ...PRESETS] : [...PRESETS, ollama]
}

async function isOllama(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/api/version`, {
      signal: AbortSignal.timeout(DETECT_MS),
    })
    await body.dump({ limit: 64 * 1024 })
    return statusCode === 200
  } catch {
    return false
  }
}
