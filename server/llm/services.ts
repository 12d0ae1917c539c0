// The services that offer models: what people call them, how addresses name them, and where their keys are made.
import { oncePer } from '../lib/once-per.ts'
import type { ModelSettings } from '../protocol/models/catalog.ts'

/** A service that offers models over HTTP. */
export interface ModelService {
  /** Identifies it. Settings may name it so as their `provider`. */
  id: string
  /** What people call it. */
  name: string
  /** Its hosts. A port as `:11434` identifies programs that usually run on it. */
  hosts: RegExp
  /** How the path of a gateway names it, as one segment: `https://gateway.example/account/deepseek/v1`. */
  segments?: RegExp
  /** The `provider` whose oddities apply (`provider-quirks.ts`). Default: `openai`. */
  provider?: string
  /** Its `gen_ai.provider.name` in the OpenTelemetry conventions. */
  telemetry?: string
  /**
   * Offered by the setup page: the base URL of the API, the page on which keys are made, and the environment variables in
   * which the programs of the service look for them.
   */
  preset?: { api_url: string; key_url: string; key_variables: readonly string[] }
}

/** Those with a preset are in the order of the setup page. */
export const SERVICES: readonly ModelService[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    hosts: /^(?:[a-z]+\.)?api\.openai\.com$/,
    telemetry: 'openai',
    preset: {
      api_url: 'https://api.openai.com/v1',
      key_url: 'https://platform.openai.com/api-keys',
      key_variables: ['OPENAI_API_KEY'],
    },
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    hosts: /(?:^|\.)anthropic\.com$/,
    provider: 'anthropic',
    telemetry: 'anthropic',
    preset: {
      api_url: 'https://api.anthropic.com/v1',
      key_url: 'https://console.anthropic.com/settings/keys',
      key_variables: ['ANTHROPIC_API_KEY'],
    },
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    hosts: /deepseek/,
    segments: /deepseek/,
    provider: 'deepseek',
    telemetry: 'deepseek',
    preset: {
      api_url: 'https://api.deepseek.com/v1',
      key_url: 'https://platform.deepseek.com/api_keys',
      key_variables: ['DEEPSEEK_API_KEY'],
    },
  },
  {
    id: 'glm',
    name: 'GLM (Zhipu)',
    hosts: /bigmodel|^api\.z\.ai$/,
    segments: /bigmodel|^zhipu(?:ai)?$|^glm$|^z-?ai$/,
    provider: 'glm',
    preset: {
      api_url: 'https://open.bigmodel.cn/api/paas/v4',
      key_url: 'https://open.bigmodel.cn/usercenter/proj-mgmt/apikeys',
      key_variables: ['ZHIPUAI_API_KEY'],
    },
  },
  {
    id: 'gemini',
    name: 'Google Gemini',
    hosts: /^generativelanguage\.googleapis\.com$/,
    segments: /^gemini$|^google-ai-studio$/,
    provider: 'gemini',
    telemetry: 'gcp.gemini',
    preset: {
      api_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
      key_url: 'https://aistudio.google.com/apikey',
      key_variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    },
  },
  {
    id: 'mistral',
    name: 'Mistral',
    hosts: /(?:^|\.)mistral\.ai$/,
    segments: /^mistral(?:ai)?$/,
    provider: 'mistral',
    telemetry: 'mistral_ai',
    preset: {
      api_url: 'https://api.mistral.ai/v1',
      key_url: 'https://console.mistral.ai/api-keys',
      key_variables: ['MISTRAL_API_KEY'],
    },
  },
  {
    id: 'xai',
    name: 'xAI (Grok)',
    hosts: /(?:^|\.)x\.ai$/,
    segments: /^(?:x-?ai|grok)$/,
    telemetry: 'x_ai',
    preset: {
      api_url: 'https://api.x.ai/v1',
      key_url: 'https://console.x.ai',
      key_variables: ['XAI_API_KEY'],
    },
  },
  {
    id: 'qwen',
    name: 'Qwen (Alibaba Cloud)',
    hosts: /dashscope/,
    segments: /dashscope|^qwen$|^bailian$/,
    provider: 'qwen',
    preset: {
      api_url: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
      key_url: 'https://bailian.console.aliyun.com/?tab=model#/api-key',
      key_variables: ['DASHSCOPE_API_KEY'],
    },
  },
  {
    id: 'kimi',
    name: 'Kimi (Moonshot)',
    hosts: /moonshot|^api\.kimi\./,
    segments: /moonshot|^kimi$/,
    provider: 'moonshot',
    telemetry: 'moonshot_ai',
    preset: {
      api_url: 'https://api.moonshot.cn/v1',
      key_url: 'https://platform.moonshot.cn/console/api-keys',
      key_variables: ['MOONSHOT_API_KEY'],
    },
  },
  {
    id: 'doubao',
    name: 'Doubao (Volcengine)',
    hosts: /\.volces\.com$/,
    segments: /^doubao$|^volcengine$/,
    provider: 'doubao',
    preset: {
      api_url: 'https://ark.cn-beijing.volces.com/api/v3',
      key_url: 'https://console.volcengine.com/ark/region:ark+cn-beijing/apiKey',
      key_variables: ['ARK_API_KEY'],
    },
  },
  {
    id: 'siliconflow',
    name: 'SiliconFlow',
    hosts: /(?:^|\.)siliconflow\.(?:cn|com)$/,
    segments: /^siliconflow$/,
    preset: {
      api_url: 'https://api.siliconflow.cn/v1',
      key_url: 'https://cloud.siliconflow.cn/account/ak',
      key_variables: ['SILICONFLOW_API_KEY'],
    },
  },
  {
    id: 'hunyuan',
    name: 'Hunyuan (Tencent)',
    hosts: /(?:hunyuan|lkeap)\.(?:cloud\.tencent|tencentcloudapi)\.com$/,
    segments: /^hunyuan$/,
    preset: {
      api_url: 'https://api.hunyuan.cloud.tencent.com/v1',
      key_url: 'https://console.cloud.tencent.com/hunyuan/api-key',
      key_variables: ['HUNYUAN_API_KEY'],
    },
  },
  {
    id: 'minimax',
    name: 'MiniMax',
    hosts: /minimax/,
    segments: /minimax/,
    provider: 'minimax',
    preset: {
      api_url: 'https://api.minimaxi.com/v1',
      key_url: 'https://platform.minimaxi.com/user-center/basic-information/interface-key',
      key_variables: ['MINIMAX_API_KEY'],
    },
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    hosts: /(?:^|\.)openrouter\.ai$/,
    segments: /^openrouter$/,
    preset: {
      api_url: 'https://openrouter.ai/api/v1',
      key_url: 'https://openrouter.ai/settings/keys',
      key_variables: ['OPENROUTER_API_KEY'],
    },
  },
  { id: 'ollama', name: 'Ollama', hosts: /^ollama\.com$|^:11434$/, segments: /^ollama$/ },
  { id: 'lmstudio', name: 'LM Studio', hosts: /^:1234$/ },
  {
    id: 'azure',
    name: 'Azure OpenAI',
    hosts: /\.(?:openai|services\.ai|cognitiveservices)\.azure\.(?:com|cn|us)$/,
    segments: /^azure(?:-openai)?$/,
    telemetry: 'azure.ai.openai',
  },
  {
    id: 'vertex',
    name: 'Google Vertex AI',
    hosts: /(?:^|[.-])aiplatform\.googleapis\.com$/,
    segments: /^google-vertex-ai$/,
    telemetry: 'gcp.vertex_ai',
  },
  {
    id: 'bedrock',
    name: 'Amazon Bedrock',
    hosts: /\.amazonaws\.com(?:\.cn)?$/,
    segments: /^aws-bedrock$/,
    telemetry: 'aws.bedrock',
  },
  {
    id: 'groq',
    name: 'Groq',
    hosts: /(?:^|\.)groq\.com$/,
    segments: /^groq$/,
    telemetry: 'groq',
  },
  {
    id: 'cohere',
    name: 'Cohere',
    hosts: /(?:^|\.)cohere\.(?:com|ai)$/,
    segments: /^cohere$/,
    telemetry: 'cohere',
  },
  {
    id: 'perplexity',
    name: 'Perplexity',
    hosts: /(?:^|\.)perplexity\.ai$/,
    segments: /^perplexity(?:-ai)?$/,
    telemetry: 'perplexity',
  },
  { id: 'together', name: 'Together AI', hosts: /(?:^|\.)together\.(?:xyz|ai)$/ },
  { id: 'fireworks', name: 'Fireworks AI', hosts: /(?:^|\.)fireworks\.ai$/ },
  { id: 'cerebras', name: 'Cerebras', hosts: /(?:^|\.)cerebras\.ai$/, segments: /^cerebras$/ },
  { id: 'sambanova', name: 'SambaNova', hosts: /(?:^|\.)sambanova\.ai$/ },
  { id: 'deepinfra', name: 'DeepInfra', hosts: /(?:^|\.)deepinfra\.com$/ },
  { id: 'novita', name: 'Novita AI', hosts: /(?:^|\.)novita\.ai$/ },
  { id: 'nvidia', name: 'NVIDIA', hosts: /^integrate\.api\.nvidia\.com$/ },
  {
    id: 'huggingface',
    name: 'Hugging Face',
    hosts: /(?:^|\.)huggingface\.co$/,
    segments: /^huggingface$/,
  },
  {
    id: 'github',
    name: 'GitHub Models',
    hosts: /^models\.github\.ai$|^models\.inference\.ai\.azure\.com$/,
  },
  { id: 'vercel', name: 'Vercel AI Gateway', hosts: /^ai-gateway\.vercel\.sh$/ },
  { id: 'nebius', name: 'Nebius', hosts: /(?:^|\.)nebius\.(?:ai|com)$/ },
  { id: 'scaleway', name: 'Scaleway', hosts: /^api\.scaleway\.ai$/ },
  { id: 'ionos', name: 'IONOS', hosts: /^openai\.inference\.[\w-]+\.ionos\.com$/ },
  { id: 'ovh', name: 'OVHcloud', hosts: /\.endpoints\.kepler\.ai\.cloud\.ovh\.net$/ },
  { id: 'qianfan', name: 'Qianfan (Baidu)', hosts: /^qianfan\.baidubce\.com$/ },
  { id: 'stepfun', name: 'StepFun', hosts: /^api\.stepfun\.(?:com|ai)$/ },
  { id: 'modelscope', name: 'ModelScope', hosts: /^api-inference\.modelscope\.cn$/ },
]

/** Other names by which settings may name the provider of a service. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  google: 'gemini',
  zhipu: 'glm',
  zhipuai: 'glm',
  grok: 'xai',
}

/** The service at this host; undefined if it is none of the table. */
export function serviceAtHost(apiUrl: string): ModelService | undefined {
  if (!URL.canParse(apiUrl)) return undefined
  const { hostname, port } = new URL(apiUrl)
  const words = [hostname.toLowerCase(), `:${port}`]
  return SERVICES.find(({ hosts }) => words.some((word) => hosts.test(word)))
}

/** The service that the path names: gateways do. */
export function serviceInPath(apiUrl: string): ModelService | undefined {
  if (!URL.canParse(apiUrl)) return undefined
  const parts = new URL(apiUrl).pathname.toLowerCase().split('/')
  return SERVICES.find(({ segments }) => parts.some((part) => segments?.test(part) === true))
}

/**
 * What people call the service of a model, by its host, its `provider`, or the path of a gateway. Null if none of them names
 * one: the address itself is not for everybody.
 */
export const serviceNameOf = oncePer(
  ({ provider, api_url }: Pick<ModelSettings, 'provider' | 'api_url'>): string | null =>
    (serviceAtHost(api_url) ?? serviceNamed(provider) ?? serviceInPath(api_url))?.name ?? null,
)

/** `openai` means every compatible API, so it names no service. */
function serviceNamed(provider: string | undefined): ModelService | undefined {
  if (provider === undefined || provider === 'openai') return undefined
  const name = PROVIDER_NAMES[provider] ?? provider
  return SERVICES.find((service) => service.id === name || service.provider === name)
}
