// Descriptions for the API reference: the routes in Anthropic's format. Fields mean what they mean at Anthropic.
import type { z } from 'zod'
import type {
  AnthropicMessage,
  CountedTokens,
  CountTokensBody,
  MessagesBody,
} from '../../protocol/anthropic/messages.ts'
import { type FieldsOf, within } from './describe-fields.ts'

const source = within('The content.', {
  type: '`base64` for images, `text` for documents.',
  media_type: 'The type of the image or document.',
  data: 'The image in base64, or the text.',
})
const block = {
  type: 'The kind of block. Thinking is not read; other kinds are left out, see `warnings`.',
  text: 'The text.',
  title: 'The title of the document. Default: none.',
  source,
  id: 'The id of the call.',
  name: 'The name of the tool.',
  input: 'The arguments.',
  tool_use_id: 'The id of the call that this is the result of.',
  is_error: 'Whether the tool failed. Default: false.',
}
const common = {
  model: 'The id of a model from `GET /v1/models`. `nanoclaw`: the default model.',
  messages: within('The conversation so far.', {
    role: 'Who wrote the message.',
    content: within('The text, or its blocks.', {
      ...block,
      content: within('The result.', block),
    }),
  }),
  system: within('Instructions. Default: none.', block),
  tools: within('Tools of your program. Default: none.', {
    type: 'Absent or `custom`: your program runs it. `web_search_…`: the search of the server.',
    name: 'The name that the model calls.',
    description: 'What the tool does.',
    input_schema: 'The arguments as a JSON schema.',
  }),
}

/** By the id of a schema in the reference. */
export const ANTHROPIC_DESCRIPTIONS = {
  MessagesRequest: {
    ...common,
    max_tokens: 'The maximum number of tokens in one response of the model.',
    stream: 'Whether the response is a stream of events. Default: false.',
    temperature: 'The sampling temperature. Default: that of the model.',
    thinking: within('Whether the model thinks. Default: as configured.', {
      type: '`disabled`: it does not think.',
    }),
    tool_choice: within('Whether the model may, must or must not call tools.', {
      type: '`any`: it must call one; `tool`: it must call the one in `name`.',
      name: 'The name of the tool.',
    }),
    output_config: within('The form of the answer. Default: text.', {
      format: within('The schema of the answer.', {
        type: 'Always `json_schema`.',
        schema: 'The JSON schema.',
      }),
    }),
    nanoclaw: within('Options that only this server knows.', {
      project_id: 'The project whose files and documents tools use. Default: none.',
      files: 'Whether the conversation gets files of its own where it has no project.',
      server_tools: 'Whether the model may call the tools of the server.',
    }),
  } satisfies FieldsOf<z.infer<typeof MessagesBody>>,
  CountTokensRequest: common satisfies FieldsOf<z.infer<typeof CountTokensBody>>,
  CountedTokens: {
    input_tokens: 'The estimated number of tokens.',
  } satisfies FieldsOf<z.infer<typeof CountedTokens>>,
  AnthropicMessage: {
    id: 'Identifies the message: `msg_` and the id of its run.',
    type: 'Always `message`.',
    role: 'Always `assistant`.',
    model: 'The model that answered.',
    content: within('What the model thought, wrote and called.', {
      ...block,
      thinking: 'The thinking.',
      signature: 'Always empty.',
    }),
    stop_reason:
      'Why the answer ended: `end_turn`: it is complete; `max_tokens`: it reached a limit; `tool_use`: it waits for your program.',
    stop_sequence: 'Always null.',
    usage: within('The tokens of all model calls of the answer.', {
      input_tokens: 'Tokens that the models read, without cached ones.',
      output_tokens: 'Tokens that the models wrote.',
      cache_read_input_tokens: 'Tokens that providers read from their caches.',
      cache_creation_input_tokens: 'Always 0.',
    }),
    warnings: 'What of the request was left out, a line for each kind. Absent: nothing.',
  } satisfies FieldsOf<AnthropicMessage>,
}
