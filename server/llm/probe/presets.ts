// The providers that the first-run page offers by name. Any other provider is added by its URL.
import type { ModelPreset } from '../../protocol/models/catalog.ts'

const OLLAMA = 'http://127.0.0.1:11434'
const DETECT_MS = 800

/** Providers that need a key: the id, the name, the base URL of the API, and the page on which keys are created. */
const KEYED = [
  ['openai', 'OpenAI', 'https://api.openai.com/v1', 'https://platform.openai.com/api-keys'],
  [
    'anthropic',
    'Anthropic',
    'https://api.anthropic.com/v1',
    'https://console.anthropic.com/settings/keys',
  ],
  ['deepseek', 'DeepSeek', 'https://api.deepseek.com/v1', 'https://platform.deepseek.com/api_keys'],
  [
    'glm',
    'GLM (bigmodel.cn)',
    'https://open.bigmodel.cn/api/paas/v4',
    'https://open.bigmodel.cn/usercenter/proj-mgmt/apikeys',
  ],
  [
    'gemini',
    'Google Gemini',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'https://aistudio.google.com/apikey',
  ],
  ['mistral', 'Mistral', 'https://api.mistral.ai/v1', 'https://console.mistral.ai/api-keys'],
  ['xai', 'xAI (Grok)', 'https://api.x.ai/v1', 'https://console.x.ai'],
  [
    'qwen',
    'Qwen (Alibaba Cloud)',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'https://bailian.console.aliyun.com/?tab=model#/api-key',
  ],
  [
    'kimi',
    'Kimi (Moonshot)',
    'https://api.moonshot.cn/v1',
    'https://platform.moonshot.cn/console/api-keys',
  ],
  [
    'doubao',
    'Doubao (Volcengine)',
    'https://ark.cn-beijing.volces.com/api/v3',
    'https://console.volcengine.com/ark/region:ark+cn-beijing/apiKey',
  ],
  [
    'siliconflow',
    'SiliconFlow',
    'https://api.siliconflow.cn/v1',
    'https://cloud.siliconflow.cn/account/ak',
  ],
  [
    'hunyuan',
    'Hunyuan (Tencent)',
    'https://api.hunyuan.cloud.tencent.com/v1',
    'https://console.cloud.tencent.com/hunyuan/api-key',
  ],
  [
    'minimax',
    'MiniMax',
    'https://api.minimaxi.com/v1',
    'https://platform.minimaxi.com/user-center/basic-information/interface-key',
  ],
  [
    'openrouter',
    'OpenRouter',
    'https://openrouter.ai/api/v1',
    'https://openrouter.ai/settings/keys',
  ],
] as const

const PRESETS: readonly ModelPreset[] = KEYED.map(([id, name, api_url, key_url]) => ({
  id,
  name,
  api_url,
  key_url,
  detected: false,
}))

/** Returns all presets. If Ollama runs on this machine, it comes first and is marked. Never throws. */
export async function listPresets(ollamaUrl = OLLAMA): Promise<ModelPreset[]> {
  const detected = await isOllama(ollamaUrl)
  const ollama = {
    id: 'ollama',
    name: 'Ollama',
    api_url: `${ollamaUrl}/v1`,
    detected,
    key_url: null,
  }
  return detected ? [ollama, ...PRESETS] : [...PRESETS, ollama]
}

async function isOllama(url: string): Promise<boolean> {
  try {
    // Loaded only here, where a person adds a model, because the whole package takes 45 ms. The bundled package has only a
    // default export.
    const { request } = (await import('undici')).default
    const { statusCode, body } = await request(`${url}/api/version`, {
      signal: AbortSignal.timeout(DETECT_MS),
    })
    await body.dump({ limit: 64 * 1024 })
    return statusCode === 200
  } catch {
    return false
  }
}
