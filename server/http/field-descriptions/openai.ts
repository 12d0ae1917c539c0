// Descriptions for the API reference: the OpenAI-compatible routes. Fields mean what they mean at OpenAI.
import type { z } from 'zod'
import type {
  ChatCompletion,
  ChatCompletionBody,
  ProgramModel,
  ProgramModelList,
} from '../../protocol/openai/chat-completions.ts'
import type { EmbeddingList, EmbeddingsBody } from '../../protocol/openai/embeddings.ts'
import type { OpenAiError } from '../../protocol/openai/error.ts'
import type { ImageBody, SpeechBody } from '../../protocol/openai/media.ts'
import type {
  DeletedResponse,
  OutputItem,
  ResponseBody,
  ResponseInputItems,
  ResponseObject,
} from '../../protocol/openai/responses.ts'
import { type FieldsOf, within } from './describe-fields.ts'

const MODEL = 'The id of a model from `GET /v1/models`. `nanoclaw`: the default model.'
const TEMPERATURE = 'The sampling temperature. Default: that of the model.'
const MAX_TOKENS = 'The maximum number of tokens in one response of the model. Default: its own.'
const TOOL_CHOICE =
  'Whether the model may (`auto`, the default), must not (`none`) or must (`required`) call tools, or which tool it must call.'
const TOOLS =
  'Tools of your program. The answer ends when the model calls one; send its result with the next request. Default: none.'
const FORMAT =
  'The form of the answer. It is checked, and the model is asked again if it is wrong. Default: text.'
const FORMAT_TYPE =
  '`text`; `json_object`: any JSON object; `json_schema`: JSON that matches the schema.'
const answerSchema = {
  name: 'The name of the schema.',
  description: 'What the answer is for. Default: nothing.',
  schema:
    'The JSON schema, without references to other documents. `pattern` is only sent to the provider, not checked. Default: any JSON.',
  strict: 'Sent to the provider. Default: not.',
}
const EFFORT = '`none`: the model does not think; all others: it thinks as much as configured.'

const nanoclaw = within('Options that only this server knows.', {
  project_id: 'The project whose files and documents tools use. Default: none.',
  files:
    'Whether the conversation gets files of its own where it has no project, so that the model is offered the file tools. Default: false.',
  server_tools:
    'Whether the model may call the tools of the server. Default: as the name of the model, the header `X-NanoClaw-Tools` or the API key says, otherwise true without `tools` and false with them.',
})

const calledFunction = within('What is called.', {
  name: 'The name of the tool.',
  arguments: 'The arguments as JSON text.',
})
const CALL_TYPE = '`function`, or `custom` for a tool whose input is a text.'
const toolCalls = within('Calls of tools of your program. Absent: none.', {
  id: 'The id of the call.',
  type: CALL_TYPE,
  function: calledFunction,
  custom: within('What is called.', { name: 'The name of the tool.', input: 'The text.' }),
})

const offeredTool = {
  type: 'The kind of tool: `function`; `custom`: its input is a text; `namespace`: a group; `web_search`: the search of the server. Other kinds are left out, see `warnings`.',
  name: 'The name that the model calls.',
  description: 'What the tool does.',
  parameters: 'The arguments as a JSON schema. Default: none.',
  format: within('The form of the text. Default: any text.', { type: 'The kind of form.' }),
}
const chosenTool = {
  type: 'The kind of tool, or `allowed_tools` to allow only some.',
  name: 'The name of the tool.',
  namespace: 'The namespace of the tool. Default: none.',
  function: within('The tool.', { name: 'The name of the tool.' }),
  custom: within('The tool.', { name: 'The name of the tool.' }),
}
const allowedTools = {
  mode: 'Whether the model may or must call one of them. Default: `auto`.',
  tools: within('The allowed tools.', chosenTool),
}
const toolChoice = within(TOOL_CHOICE, {
  ...chosenTool,
  ...allowedTools,
  allowed_tools: within('The allowed tools.', allowedTools),
})
const WARNINGS = 'What of the request was left out, a line for each kind. Absent: nothing.'
const NAMESPACE = 'The namespace of the tool. Absent: none.'

const imageUrl = 'The image as a data URL.'
const parts = {
  type: 'The kind of part.',
  text: 'The text.',
  refusal: 'The text of a refusal.',
  image_url: imageUrl,
  filename: 'The name of the file. Default: `file`.',
  file_data: 'The content as base64 or as a data URL. Default: that of `file_id`.',
  file_id: 'The id of a file of `POST /api/files`. Default: none.',
  input_audio: within('Audio. Refused unless the server can read it.', {
    data: 'The content as base64.',
    format: 'The format, such as `wav`.',
  }),
}

const outputItem = {
  type: '`reasoning`: thinking; `message`: text; `function_call` and `custom_tool_call`: a call of a tool of your program; `mcp_call`: a call of a tool of the server; `web_search_call`: a web search that you asked for.',
  id: 'Identifies the item.',
  status: 'The status of the item.',
  summary: within('The text of the thinking.', {
    type: 'Always `summary_text`.',
    text: 'The text.',
  }),
  role: 'Always `assistant`.',
  content: within('The text of the message.', {
    type: 'Always `output_text`.',
    text: 'The text.',
    annotations: 'Always empty.',
    logprobs: 'Always empty.',
  }),
  call_id: 'The id of the call. Send it back with the result.',
  server_label: 'Always `nanoclaw`.',
  name: 'The name of the tool.',
  namespace: NAMESPACE,
  arguments: 'The arguments as JSON text.',
  input: 'The text for the tool.',
  action: within('What is searched or opened.', {
    type: 'The kind of action.',
    query: 'The search terms.',
    queries: 'The search terms, as a list.',
    url: 'The address.',
  }),
  output: 'The result of the call. Null: none yet, or it failed.',
  error: 'Why the call failed. Null: it did not.',
} satisfies FieldsOf<OutputItem>

/** By the id of a schema in the reference. */
export const OPENAI_DESCRIPTIONS = {
  OpenAiError: {
    error: within('The failure.', {
      message: 'What happened and what to do, as a text for a person.',
      type: 'The kind of failure, as OpenAI names it.',
      param: 'The field of the request that is wrong. Null: none.',
      code: 'The machine-readable reason.',
    }),
    request_id:
      'Identifies the request, also in the header `X-Request-Id` and in the log of the server.',
  } satisfies FieldsOf<OpenAiError>,
  EmbeddingsRequest: {
    model: 'The configured model for embeddings, with or without `nanoclaw/` in front.',
    input: 'The text, or a list of texts.',
    encoding_format:
      '`float`: lists of numbers; `base64`: 32-bit floating-point numbers, little-endian. Default: `float`.',
    dimensions: 'The length of the vectors. Default: that of the model.',
  } satisfies FieldsOf<EmbeddingsBody>,
  EmbeddingList: {
    object: 'Always `list`.',
    data: within('One vector for each text, in order.', {
      object: 'Always `embedding`.',
      index: 'The position of the text, from 0.',
      embedding: 'The vector.',
    }),
    model: 'The model that computed them.',
    usage: within('The tokens of all texts.', {
      prompt_tokens: 'Tokens that the model read.',
      total_tokens: 'The same.',
    }),
  } satisfies FieldsOf<EmbeddingList>,
  SpeechRequest: {
    model: 'The configured model for reading aloud, with or without `nanoclaw/` in front.',
    input: 'The text.',
    voice: 'The voice, as the service names it. Default: the configured one.',
    response_format: 'The format of the sound, as the service names it.',
  } satisfies FieldsOf<SpeechBody>,
  ImageRequest: {
    model: 'The configured model for images, with or without `nanoclaw/` in front.',
    prompt: 'What the image shows.',
    n: 'How many images.',
    stream: 'Always `false`.',
  } satisfies FieldsOf<ImageBody>,
  ChatCompletionRequest: {
    model: MODEL,
    messages: within('The conversation so far, ending with what the model answers.', {
      role: 'Who wrote the message. `system` and `developer`: instructions; `tool`: the result of a call.',
      content: within('The text, or its parts.', {
        ...parts,
        image_url: within('The image.', { url: imageUrl }),
        file: within('The file.', {
          filename: parts.filename,
          file_data: parts.file_data,
          file_id: parts.file_id,
        }),
      }),
      tool_calls: toolCalls,
      tool_call_id: 'The id of the call that this message is the result of.',
    }),
    stream: 'Whether the response is a stream of chunks. Default: false.',
    stream_options: within('Options of the stream.', {
      include_usage: 'Whether a last chunk contains the token counts. Default: false.',
    }),
    tools: within(TOOLS, {
      type: offeredTool.type,
      function: within('The tool.', offeredTool),
      custom: within('The tool.', offeredTool),
    }),
    tool_choice: toolChoice,
    temperature: TEMPERATURE,
    max_tokens: MAX_TOKENS,
    max_completion_tokens: 'The same as `max_tokens`, and takes precedence.',
    reasoning_effort: EFFORT,
    store: 'Whether the conversation stays in your list. Default: false.',
    functions: 'Not supported: use `tools`.',
    n: 'The number of choices. Only 1 is supported.',
    logprobs: 'Not supported: only false is accepted.',
    response_format: within(FORMAT, {
      type: FORMAT_TYPE,
      json_schema: within('The schema.', answerSchema),
    }),
    nanoclaw,
  } satisfies FieldsOf<z.infer<typeof ChatCompletionBody>>,
  ChatCompletion: {
    id: 'Identifies the completion.',
    object: 'Always `chat.completion`.',
    created: 'When it was created, in seconds since 1970.',
    model: 'The model that answered.',
    choices: within('The answer. There is always one.', {
      index: 'Always 0.',
      message: within('The answer.', {
        role: 'Always `assistant`.',
        content: 'The text. Null: the model only called tools.',
        reasoning_content: 'The thinking of the model. Absent: none.',
        refusal: 'Always null.',
        tool_calls: toolCalls,
      }),
      logprobs: 'Always null.',
      finish_reason:
        'Why the answer ended: `stop`: it is complete; `length`: it reached a limit; `tool_calls`: it waits for your program to run its tools.',
    }),
    usage: within('The tokens of all model calls of the answer.', {
      prompt_tokens: 'Tokens that the models read.',
      completion_tokens: 'Tokens that the models wrote, including those of thinking.',
      total_tokens: 'The sum of both.',
      prompt_tokens_details: within('Parts of `prompt_tokens`.', {
        cached_tokens: 'Tokens that providers read from their caches.',
      }),
    }),
    warnings: WARNINGS,
    nanoclaw: 'What the answer did. Absent: it is from before receipts.',
  } satisfies FieldsOf<ChatCompletion>,
  ProgramModel: {
    id: 'Identifies the model: `nanoclaw/` and its id in `GET /api/models`.',
    object: 'Always `model`.',
    created: 'Always 0.',
    owned_by: 'Always `nanoclaw`.',
    name: 'The name for people.',
    context_window: 'The size of the context window in tokens. Null: unknown.',
    vision: 'Whether the model accepts images.',
  } satisfies FieldsOf<ProgramModel>,
  ProgramModelList: {
    object: 'Always `list`.',
    data: 'The models.',
  } satisfies FieldsOf<z.infer<typeof ProgramModelList>>,
  ResponseRequest: {
    model: MODEL,
    input: within('A text, or the items to answer, in order.', {
      type: 'The kind of item. Default: `message`.',
      role: 'Who wrote the message. `system` and `developer`: instructions.',
      content: within('The text, or its parts.', parts),
      id: 'The id of the item, or of the item of an earlier response that is meant.',
      call_id: 'The id of the call.',
      name: 'The name of the tool.',
      namespace: NAMESPACE,
      arguments: 'The arguments as JSON text.',
      input: 'The text for the tool.',
      output: within('The result of the call.', parts),
      error: 'Why the call failed.',
    }),
    instructions: 'Instructions for the model, in addition to those of the server. Default: none.',
    previous_response_id: 'The response that this one continues. Default: none.',
    stream: 'Whether the response is a stream of events. Default: false.',
    background:
      'Whether to respond at once while the run continues without a connection. Default: false.',
    store:
      'Whether the conversation stays in your list. With false, it is removed after its run. Default: true.',
    tools: within(TOOLS, { ...offeredTool, tools: within('The tools of the group.', offeredTool) }),
    tool_choice: toolChoice,
    temperature: TEMPERATURE,
    max_output_tokens: MAX_TOKENS,
    reasoning: within('How the model thinks.', { effort: EFFORT }),
    text: within('The form of the text.', {
      format: within(FORMAT, { type: FORMAT_TYPE, ...answerSchema }),
    }),
    metadata: 'Texts that the response returns unchanged. Default: none.',
    nanoclaw,
  } satisfies FieldsOf<z.infer<typeof ResponseBody>>,
  ResponseOutputItem: outputItem,
  DeletedResponse: {
    id: 'The id of the response.',
    object: 'Always `response`.',
    deleted: 'Always true.',
  } satisfies FieldsOf<z.infer<typeof DeletedResponse>>,
  ResponseInputItems: {
    object: 'Always `list`.',
    data: within('The messages that the response answers, newest first, at most 100.', {
      id: 'Identifies the message.',
      type: 'Always `message`.',
      role: 'Who wrote the message.',
      status: 'Always `completed`.',
      content: within('The text.', {
        type: '`input_text`, or `output_text` of the assistant.',
        text: 'The text.',
      }),
    }),
    first_id: 'The id of the first message. Null: there is none.',
    last_id: 'The id of the last message. Null: there is none.',
    has_more: 'Whether there are more messages.',
  } satisfies FieldsOf<z.infer<typeof ResponseInputItems>>,
  Response: {
    id: 'Identifies the response: the id of its run.',
    object: 'Always `response`.',
    created_at: 'When it was created, in seconds since 1970.',
    completed_at: 'When it ended, in seconds since 1970. Null: it has not ended.',
    status: 'The status of the response. Only `in_progress` is not final.',
    background: 'As requested.',
    error: within('Why the response failed. Null: it did not.', {
      code: 'The machine-readable reason.',
      message: 'What happened, as a text for a person.',
    }),
    incomplete_details: within('Why the response is incomplete. Null: it is not.', {
      reason: 'The limit that was reached: `max_output_tokens` or `max_tool_calls`.',
    }),
    instructions: 'As requested. Null: none.',
    max_output_tokens: 'As requested. Null: that of the model.',
    metadata: 'As requested.',
    model: 'The model that answered.',
    output: 'What the model wrote and called, in order.',
    parallel_tool_calls: 'Always true.',
    previous_response_id: 'As requested. Null: none.',
    store: 'As requested.',
    temperature: 'As requested. Null: that of the model.',
    text: within('The form of the text.', {
      format: within('As requested.', { type: FORMAT_TYPE, ...answerSchema }),
    }),
    tool_choice: within('As requested.', {
      type: 'Always `function`.',
      name: 'The name of the tool to call.',
    }),
    tools: within('The tools of your program, as requested.', { type: 'The kind of tool.' }),
    warnings: WARNINGS,
    top_p: 'Always null.',
    usage: within('The tokens of all model calls of the response. Null: it has not ended.', {
      input_tokens: 'Tokens that the models read.',
      input_tokens_details: within('Parts of `input_tokens`.', {
        cached_tokens: 'Tokens that providers read from their caches.',
      }),
      output_tokens: 'Tokens that the models wrote.',
      output_tokens_details: within('Parts of `output_tokens`.', {
        reasoning_tokens: 'Tokens that the models thought with.',
      }),
      total_tokens: 'The sum of both.',
    }),
    nanoclaw: 'What the answer did. Absent: it has not ended.',
  } satisfies FieldsOf<ResponseObject>,
}
