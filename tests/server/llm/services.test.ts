// What people call the service of a model, by its address and its provider.
import { expect, test } from 'vitest'
import { serviceNameOf } from '../../../server/llm/services.ts'
import { providerName } from '../../../server/observability/tracing.ts'

test('a service is named by its host, by the provider of the settings, or by the path of a gateway', () => {
  for (const [api_url, provider, name] of [
    ['https://api.openai.com/v1', undefined, 'OpenAI'],
    ['https://eu.api.openai.com/v1', undefined, 'OpenAI'],
    ['https://openrouter.ai/api/v1', 'openai', 'OpenRouter'],
    ['https://openrouter.ai/api/v1', 'deepseek', 'OpenRouter'],
    ['https://api.deepseek.com/anthropic', undefined, 'DeepSeek'],
    ['https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'openai', 'Qwen (Alibaba Cloud)'],
    ['https://api.z.ai/api/paas/v4', undefined, 'GLM (Zhipu)'],
    ['https://name.openai.azure.com/openai/v1', undefined, 'Azure OpenAI'],
    ['https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1', undefined, 'Amazon Bedrock'],
    ['http://localhost:11434/v1', 'openai', 'Ollama'],
    ['https://gateway.example/account/deepseek/v1', 'deepseek', 'DeepSeek'],
    ['https://gateway.example/groq/openai/v1', 'openai', 'Groq'],
    ['https://gateway.example/v1', 'moonshot', 'Kimi (Moonshot)'],
    ['https://gateway.example/v1', 'google', 'Google Gemini'],
    // Nobody is told the address of a service that has no name.
    ['https://gateway.example/v1', 'openai', null],
    ['https://mox.ai/v1', undefined, null],
    ['http://10.0.0.7:8000/v1', undefined, null],
  ] as const)
    expect([api_url, serviceNameOf({ api_url, ...(provider && { provider }) })]).toEqual([
      api_url,
      name,
    ])
})

test('traces name a service as the conventions do, and others by their host', () => {
  const names = [
    'https://api.x.ai/v1',
    'https://api.openai.com/v1',
    'https://name.openai.azure.com/openai/v1',
    'https://api.siliconflow.cn/v1',
    'not an address',
  ].map(providerName)
  expect(names).toEqual(['x_ai', 'openai', 'azure.ai.openai', 'api.siliconflow.cn', 'unknown'])
})
