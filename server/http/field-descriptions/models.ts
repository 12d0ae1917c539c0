// Descriptions for the API reference: models, tools, MCP servers as users see them.
import type { z } from 'zod'
import type {
  AdminModel,
  ModelPreset,
  ModelSettings,
  Price,
  ProbeBody,
  ProbeReport,
  PublicModel,
  SentTools,
  ToolList,
  ToolListing,
} from '../../protocol/models/catalog.ts'
import type {
  FilledMcpPrompt,
  McpCallbackBody,
  McpPrompt,
  McpPromptBody,
  McpPromptList,
  McpResource,
  McpResourceBody,
  McpResourceList,
  McpResourceTemplate,
  McpServerList,
  McpSignIn,
} from '../../protocol/models/mcp.ts'
import { MCP_SERVER } from './administration.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { CREATED } from './shared.ts'

const rates = {
  input: 'Per million input tokens.',
  output: 'Per million output tokens.',
  cached_input: 'Per million tokens that the provider read from its cache. Default: `input`.',
  cache_write: 'Per million tokens that the provider wrote to its cache. Default: `input`.',
  reasoning: 'Per million tokens of thinking. Default: `output`.',
}
const price = {
  currency: 'The currency of all rates.',
  ...rates,
  tiers: within('Other rates for the whole request if its input has more than `above` tokens.', {
    ...rates,
    above: 'The number of input tokens above which these rates apply.',
  }),
} satisfies FieldsOf<Price>

const modelSettings = {
  id: 'Identifies the model in this API.',
  name: 'The name for people. Default: the id.',
  api_url: 'The base URL of the API of the provider, or the full URL of its endpoint.',
  api_key: 'The key for the provider. It is stored encrypted and never returned.',
  headers:
    'Headers that a gateway needs in addition to the key, by name. Their values are stored encrypted and never returned.',
  provider: 'The provider, which decides about deviations of its API. Default: from `api_url`.',
  api: 'The API: `chat`: chat completions; `responses`: Responses API; `messages`: Messages API of Anthropic. Default: from `api_url`.',
  upstream_model: 'The name of the model at the provider. Default: the id.',
  tool_mode:
    'How the model calls tools: `native`: function calling; `prompt`: calls in its text; `none`: not at all.',
  tool_results: 'The role of messages with tool results in prompt mode.',
  thinking: 'Whether the model thinks, or how much.',
  vision: 'Whether the model accepts images.',
  pdf: 'Whether the model reads PDF files themselves, and not only their text.',
  context_window: 'The size of the context window in tokens.',
  max_tokens: 'The maximum number of tokens in one response of the model.',
  stream_usage: 'Whether to request token counts from the provider.',
  idle_timeout: 'Seconds without data after which a response has failed.',
  price: within('The price per million tokens.', price),
  fallback: 'Ids of the models to try, in order, if this one fails before its first output.',
} satisfies FieldsOf<ModelSettings>

const mcpResource = {
  server: 'The name of the server.',
  uri: 'The address of the resource.',
  name: 'The name of the resource.',
  title: 'The name for people. Absent: none.',
  description: 'What the resource contains, in the words of the server. Absent: unknown.',
  mime: 'The media type. Absent: unknown.',
  size: 'The size in bytes. Absent: unknown.',
} satisfies FieldsOf<McpResource>

/** By the id of a schema in the reference. */
export const MODEL_DESCRIPTIONS = {
  Model: {
    id: modelSettings.id,
    name: 'The name for people.',
    provider: 'The provider whose oddities apply; `openai` for every compatible API.',
    service:
      'What people call the service, such as `OpenRouter`. Null: neither its address nor its provider names one.',
    tool_mode: modelSettings.tool_mode,
    thinking: modelSettings.thinking,
    vision: modelSettings.vision,
    pdf: modelSettings.pdf,
    price: within('The price per million tokens. Null: unknown.', price),
    context_window: 'The size of the context window in tokens. Null: unknown.',
    max_tokens: 'The maximum number of tokens in one response. Null: unknown.',
    default: 'Whether conversations without a model of their own use this one.',
    demo: 'Whether this is the built-in demo, which is not a language model.',
    needs_key: 'Whether the stored key can no longer be read, so that the model fails.',
  } satisfies FieldsOf<PublicModel>,
  CreateModel: modelSettings,
  PatchModel: {
    ...modelSettings,
    headers: `${modelSettings.headers} Null as a value removes a header; absent headers stay.`,
  },
  AdminModel: {
    ...modelSettings,
    has_api_key: 'Whether a key is stored.',
    header_names: 'The names of its own headers.',
    needs_key: 'Whether the stored key can no longer be read, so that you must enter it again.',
    source: '`config`: from `config.yml`, read-only here; `store`: added by an administrator.',
    created_at: `${CREATED} Null for models from \`config.yml\`.`,
  } satisfies FieldsOf<AdminModel>,
  ProbeModel: {
    api_url: modelSettings.api_url,
    api_key: 'The key for the provider. It is not stored. Default: none.',
    headers:
      'Headers that a gateway needs in addition to the key. They are not stored. Default: none.',
    api: modelSettings.api,
    upstream_model:
      'The name of the model at the provider. Default: one of the models that the provider lists.',
  } satisfies FieldsOf<z.infer<typeof ProbeBody>>,
  ModelPreset: {
    id: 'Identifies the provider.',
    name: 'The name of the provider.',
    api_url: 'The base URL of its API.',
    detected: 'Whether it runs on the machine of this server.',
    key_url: 'The page on which its keys are created. Null: it needs no key.',
    key_variable:
      'The environment variable of the server that has its key, such as `OPENAI_API_KEY`, or null. Models of this provider without a key of their own use it.',
  } satisfies FieldsOf<ModelPreset>,
  ProbeReport: {
    reachable: 'Whether the provider responded.',
    models: 'The names of the models that the provider lists.',
    streaming: 'Whether it streams responses.',
    usage: 'Whether it reports token counts.',
    native_tools: 'Whether the model supports function calling.',
    reasoning: 'Whether the model sends its thinking.',
    vision: 'Whether the model accepts images.',
    error: 'Why the probe failed, for a person. Null: it did not.',
    error_code: 'Why the provider refused: an error code. Absent: it did not.',
    error_reason: 'A more specific reason than `error_code`, as `reason` in error responses.',
    error_params: 'The values in the text of `error`, by placeholder, for translations.',
    suggested: within('The settings that fit these results.', modelSettings),
  } satisfies FieldsOf<ProbeReport>,
  Tool: {
    type: 'Always `function`.',
    function: within('The tool in the format of OpenAI.', {
      name: 'The name that models call.',
      description: 'What the tool does, as models read it.',
      parameters: 'The arguments as a JSON schema.',
    }),
    category: 'The category of the tool.',
    risk_level: 'How much harm its calls can do. It decides whether a person must approve them.',
    isolation: 'The isolation of the programs that the tool runs. Absent: it runs none.',
  } satisfies FieldsOf<ToolListing>,
  ToolList: {
    tools: 'All tools that are switched on.',
    total: 'The number of tools.',
    sent: 'What a new conversation sends of them with each request.',
  } satisfies FieldsOf<z.infer<typeof ToolList>>,
  SentTools: {
    tools:
      'The number of tools that you have not switched off, with `tool_search` if that finds those of MCP servers.',
    tokens: 'Their estimated tokens.',
    mcp: within('The tools of MCP servers, sent or not.', {
      tools: 'The number of tools.',
      tokens: 'Their estimated tokens.',
      max_tools: 'More tools are found on demand.',
      max_tokens: 'Tools with more tokens are found on demand.',
      on_demand: 'Whether they are not sent until the model finds them with `tool_search`.',
    }),
  } satisfies FieldsOf<SentTools>,
  McpServer: MCP_SERVER,
  McpServerList: {
    servers: 'The MCP servers that you may use.',
  } satisfies FieldsOf<z.infer<typeof McpServerList>>,
  McpSignIn: {
    url: 'The page at which to sign in. Open it in the browser.',
  } satisfies FieldsOf<z.infer<typeof McpSignIn>>,
  McpCallback: {
    state: 'The parameter `state`, which identifies the sign-in.',
    code: 'The parameter `code`. Absent after an error.',
    iss: 'The parameter `iss`. Absent if the authorization server sent none.',
    error: 'The parameter `error`. Absent after a success.',
  } satisfies FieldsOf<z.infer<typeof McpCallbackBody>>,
  McpPrompt: {
    server: 'The name of the server.',
    name: 'The name of the prompt.',
    title: 'The name for people. Absent: none.',
    description: 'What the prompt does, in the words of the server. Absent: unknown.',
    arguments: within('The arguments of the prompt, in order.', {
      name: 'The name of the argument.',
      description: 'What the argument means, in the words of the server. Absent: unknown.',
      required: 'Whether it must be given.',
    }),
  } satisfies FieldsOf<McpPrompt>,
  McpPromptList: {
    prompts: 'The prompts of all MCP servers that you may use.',
  } satisfies FieldsOf<z.infer<typeof McpPromptList>>,
  FillMcpPrompt: {
    arguments: 'The values of the arguments by name. Default: none.',
  } satisfies FieldsOf<z.infer<typeof McpPromptBody>>,
  FilledMcpPrompt: {
    text: 'The text of the prompt. It comes from outside: show it to a person before you send it.',
  } satisfies FieldsOf<z.infer<typeof FilledMcpPrompt>>,
  McpResource: mcpResource,
  McpResourceTemplate: {
    server: 'The name of the server.',
    uri_template: 'The addresses of the resources, in the syntax of RFC 6570.',
    name: 'The name of the template.',
    title: mcpResource.title,
    description: 'What the resources contain, in the words of the server. Absent: unknown.',
    mime: mcpResource.mime,
    arguments: within('The variables of the template.', {
      name: 'The name of the variable.',
      required: 'Whether it must be given.',
    }),
  } satisfies FieldsOf<McpResourceTemplate>,
  McpResourceList: {
    resources: 'The resources of all MCP servers that you may use.',
    templates: 'Their templates for the addresses of further resources.',
  } satisfies FieldsOf<z.infer<typeof McpResourceList>>,
  ReadMcpResource: {
    uri: 'The address of the resource.',
    uri_template: 'The template for the address, from `GET /api/mcp/resources`.',
    arguments: 'The values of the variables of the template by name.',
  } satisfies FieldsOf<z.infer<typeof McpResourceBody>>,
}
