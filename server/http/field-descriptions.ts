// The descriptions of fields in the API reference. They are not in `protocol`, because the page would download them.
import type {
  Conversation,
  CreateConversationBody,
} from '../protocol/conversations/conversation.ts'
import type { FileInfo } from '../protocol/conversations/file.ts'
import type {
  Feedback,
  Message,
  SendMessageBody,
  StoredAttachment,
} from '../protocol/conversations/message.ts'
import type { AdminModel, ModelSettings, PublicModel } from '../protocol/models/catalog.ts'
import type { Checkpoint, Project } from '../protocol/projects/project.ts'
import type { ApprovalDecisionBody, Run } from '../protocol/runs/run.ts'
import type { ReachedLimit } from '../protocol/runs/run-event.ts'
import type { Artifact, Step } from '../protocol/runs/step.ts'
import type { DescribedObjects, Fields } from './describe-fields.ts'
import { MORE_DESCRIPTIONS } from './inner-field-descriptions.ts'

const ENDED = 'When the run ended. Null while it is unfinished.'
const CREATED = 'When it was created.'
const UPDATED = 'When it was last changed.'
const MODEL_ID = 'The id of a model from `GET /api/models`.'
const APPROVAL =
  'Which tool calls wait for a person: `ask`: those of medium and high risk; `auto_medium`: those of high risk; `auto`: none.'

const conversationSettings = {
  title: 'The title. If it is empty, one is generated after the first answer.',
  model: 'The id of the model. Null: the default model.',
  project_id: 'The project whose files and documents the conversation can use. Null: none.',
  system_prompt: 'Instructions for the model, in addition to those of the server. Null: none.',
  temperature: 'The sampling temperature. Null: the default of the model.',
  max_tokens: 'The maximum number of tokens in one response of the model. Null: its default.',
  thinking_enabled: 'Whether the model may think before it answers.',
  approval: `${APPROVAL} Null: the default of the server.`,
  disabled_mcp_servers: 'Names of the MCP servers that this conversation does not use.',
  tags: 'The tags of the conversation.',
} satisfies Fields<CreateConversationBody>

const conversation = {
  ...conversationSettings,
  id: 'Identifies the conversation.',
  project_name: 'The name of the project. Null without a project.',
  pinned: 'Whether the conversation is pinned to the top of lists.',
  pin_position:
    'The position among the pinned conversations. Null: above those that have a position.',
  archived: 'Whether the conversation is archived.',
  leaf_id: 'The last message of the branch that is shown. Null while there are no messages.',
  message_count: 'The number of messages in all branches.',
  active_run_id: 'The unfinished run of the conversation. Null: none.',
  active_run_status:
    '`awaiting_approval` or `awaiting_input` while the active run waits for a person.',
  created_at: CREATED,
  updated_at: UPDATED,
  deleted_at: 'When the conversation was moved to the trash. Null: it is not in the trash.',
  temporary: 'Whether the conversation is in no list and is removed soon after its run has ended.',
} satisfies Fields<Conversation>

const runOptions = {
  text: 'The text of the message. It may be empty if there are attachments.',
  attachments: 'Ids of uploaded files, or contents inside the request.',
  tools_enabled: 'Whether the model may call tools. Default: true.',
  project_id: 'The project of this run. Default: the project of the conversation.',
  model: `${MODEL_ID} Default: the model of the conversation.`,
  stream:
    'Whether the response is a stream of events. With false, it is the complete answer. Default: true.',
  stream_mode:
    '`cumulative` (default): each event contains the whole text of its step so far; `delta`: only what was added.',
  tool_choice:
    'Whether the model may (`auto`), must not (`none`) or must (`required`) call tools, or which tool it must call.',
  approval: `${APPROVAL} Default: the mode of the conversation.`,
  on_disconnect:
    'What happens to the run when nobody listens to it: `grace` (default): it stops after the configured time; `stop`: it stops at once; `continue`: it goes on.',
  client_id:
    'Your id for this request. A second request with the same id joins the run of the first.',
  parent_id:
    'The assistant message below which the message is added. Default: the end of the branch that is shown.',
} satisfies Fields<SendMessageBody>

const message = {
  id: 'Identifies the message.',
  role: 'Who wrote the message.',
  text: 'The text of the message. In an answer: the text of its `text` steps.',
  attachments: 'The files of the message. Absent: none.',
  tool_calls: 'The tool calls of an answer, in the format of OpenAI.',
  process_steps: 'The steps of an answer, in order.',
  token_count: 'The completion tokens of an answer.',
  usage: 'Tokens and cost of the run that wrote the answer. Null until there are any.',
  timing: 'How long the answer took. Null for answers from before this was stored.',
  model: 'The id of the model that wrote the answer.',
  run_id: 'The run that wrote the answer. Null: none, for example after an import.',
  parent_id: 'The message before this one. Null: it is the first one.',
  siblings: 'The ids of all messages with the same parent, including this one, oldest first.',
  status: 'The status of the answer. Messages of users are always `completed`.',
  error: 'Why the answer failed, as a text for a person. Null: it did not fail.',
  error_code: 'Why the answer failed: an error code. Null: it did not fail.',
  error_reason: 'A more specific reason than `error_code`, as `reason` in error responses.',
  error_params: 'The values in the text of `error`, for translations.',
  finish_reason:
    'Why the run ended. After `max_iterations` and `budget`, it can be resumed. Null: it has not ended.',
  limit: 'The limit that ended the run with `budget`. Null: none.',
  edited_from: 'The id of the answer that a person changed into this one. Absent: none.',
  feedback: 'The rating that a person gave the answer. Absent: none.',
  created_at: CREATED,
} satisfies Fields<Message>

const run = {
  id: 'Identifies the run.',
  conversation_id: 'The conversation of the run.',
  message_id: 'The assistant message that the run writes.',
  user_message_id: 'The user message that the run answers. Null for background tasks.',
  status: 'The status of the run. `completed`, `stopped`, `failed` and `interrupted` are final.',
  model: 'The id of the model.',
  usage: 'Tokens and cost so far.',
  finish_reason: 'Why the run ended. Null while it is unfinished, and if it failed.',
  limit: 'The limit that ended the run with `budget`. Null: none.',
  error: 'Why the run failed. Null: it did not fail.',
  pending_approvals: 'Tool calls that wait for your decision.',
  pending_inputs: 'Questions of MCP servers that wait for your answer.',
  created_at: CREATED,
  ended_at: ENDED,
} satisfies Fields<Run>

const step = {
  id: 'Identifies the step within its message: `step-` and the index.',
  index: 'The position within the message, from 0.',
  type: 'The kind of step.',
  content: 'The text of the step. In a tool result: the JSON text that the model receives.',
  duration_ms: 'How long the model thought, in milliseconds. Absent while it thinks, or unknown.',
  id_ref: 'The id of the tool call. The call and its result have the same.',
  name: 'The name of the tool.',
  arguments: 'The arguments as JSON text, exactly as the model wrote them.',
  skipped: 'Whether the tool did not run, because the call was rejected or a limit was reached.',
  artifact: 'What a person sees of the result. Absent: nothing besides the text.',
} satisfies Fields<Step>

const modelSettings = {
  id: 'Identifies the model in this API.',
  name: 'The name for people. Default: the id.',
  api_url: 'The base URL of the API of the provider, or the full URL of its endpoint.',
  api_key: 'The key for the provider. It is stored encrypted and never returned.',
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
  price: 'The price per million tokens.',
  fallback: 'Ids of the models to try, in order, if this one fails before its first output.',
} satisfies Fields<ModelSettings>

const project = {
  id: 'Identifies the project.',
  name: 'The name of the project.',
  description: 'What the project is about. Models read it. Null: none.',
  instructions: 'How to answer in conversations of the project. Empty: no instructions.',
  model: 'The id of the model for new conversations. Null: the default model.',
  disabled_tools: 'Names of the tools that conversations of the project do not use.',
  uses_memory: 'Whether conversations of the project know the memory of the user.',
  created_at: CREATED,
  updated_at: UPDATED,
} satisfies Fields<Project>

const file = {
  id: 'Identifies the file. Put it into the `attachments` of a message as `file_id`.',
  name: 'The name of the file.',
  mime: 'The media type, detected from the content.',
  size: 'The size of the stored content in bytes. Metadata of images is removed.',
  sha256: 'The SHA-256 hash of the stored content, in hexadecimal.',
  width: 'The width of an image in pixels. Absent for other files.',
  height: 'The height of an image in pixels. Absent for other files.',
  pages: 'The number of pages of a PDF, slides or sheets. Absent for other files.',
  characters: 'The number of characters that models can read. Absent for images.',
  error: 'Why no text could be read from the file, for a person. Absent: no error.',
  reason: 'The machine-readable reason of `error`.',
  params: 'The values in the text of `error`, for translations.',
  created_at: CREATED,
} satisfies Fields<FileInfo>

/** By the id of a schema in the reference. */
export const FIELD_DESCRIPTIONS = {
  ...MORE_DESCRIPTIONS,
  Conversation: conversation,
  CreateConversation: conversation,
  PatchConversation: {
    ...conversation,
    tags: 'All tags of the conversation; replaces the old ones.',
  },
  Message: message,
  SendMessage: runOptions,
  EditMessage: {
    ...runOptions,
    attachments: 'Absent: the new version keeps the attachments of the message.',
  },
  Regenerate: runOptions,
  Feedback: {
    rating: 'Whether the answer was good (`up`) or bad (`down`).',
    note: 'What was good or bad about it. Absent: no note.',
  } satisfies Fields<Feedback>,
  StoredAttachment: {
    file_id: 'The id of the file. Absent while an attachment of an earlier version is converted.',
    name: file.name,
    mime: 'The media type; `text/plain` for text.',
    size: 'The size of the file in bytes.',
    extension: 'The extension of the file name, without a dot.',
    width: file.width,
    height: file.height,
    pages: file.pages,
    document:
      'The document of the project that was created because the file is too large for the context window. Absent: none.',
    url: 'The path of the content on this server. It requires authentication.',
  } satisfies Fields<StoredAttachment>,
  Step: step,
  Artifact: {
    display: 'One line that summarizes the result.',
    diff: 'The change of a file as a unified diff.',
    added: 'The number of added lines.',
    removed: 'The number of removed lines.',
    untrusted: 'Whether the result contains text from outside.',
    agents: 'The sub-agents of the call and what they did.',
    files: 'Files and images that the call created.',
  } satisfies Fields<Artifact>,
  Run: run,
  ListedRun: {
    ...run,
    conversation_title: 'The title of the conversation. Empty: it has none.',
    kind: '`chat`: the answer to a message; `background`: a background task.',
  },
  ApprovalDecision: {
    id_ref: 'The id of the tool call, from `pending_approvals`.',
    decision: 'Whether to run the call.',
    reason: 'Why you reject the call. The model reads it.',
    arguments: 'Arguments to run the tool with instead of those of the model.',
    remember: 'Approves all later calls of the tool, in this run or in this conversation.',
  } satisfies Fields<ApprovalDecisionBody>,
  ReachedLimit: {
    content: 'Which limit was reached, as a text for a person.',
    reason: 'The machine-readable reason.',
    params: 'The values in the text, for translations.',
  } satisfies Fields<ReachedLimit>,
  Model: {
    ...modelSettings,
    price: 'The price per million tokens. Null: unknown.',
    context_window: 'The size of the context window in tokens. Null: unknown.',
    max_tokens: 'The maximum number of tokens in one response. Null: unknown.',
    default: 'Whether conversations without a model of their own use this one.',
    demo: 'Whether this is the built-in demo, which is not a language model.',
    needs_key: 'Whether the stored key can no longer be read, so that the model fails.',
  } satisfies Fields<PublicModel>,
  CreateModel: modelSettings,
  PatchModel: modelSettings,
  AdminModel: {
    ...modelSettings,
    has_api_key: 'Whether a key is stored.',
    needs_key: 'Whether the stored key can no longer be read, so that you must enter it again.',
    source: '`config`: from `config.yml`, read-only here; `store`: added by an administrator.',
    created_at: `${CREATED} Null for models from \`config.yml\`.`,
  } satisfies Fields<AdminModel>,
  Project: project,
  CreateProject: project,
  UpdateProject: project,
  Checkpoint: {
    id: 'Identifies the checkpoint.',
    created_at: 'When the change was made.',
    message_id: 'The answer whose tool made the change. Null: a person made it.',
    run_id: 'The run whose tool made the change. Null: a person made it.',
    tool: 'The tool or action that made the change.',
    files: 'The first 20 changed files.',
    file_count: 'The number of all changed files.',
  } satisfies Fields<Checkpoint>,
  File: file,
  ReadableText: {
    name: file.name,
    text: 'The text that models read. Null for images and for documents without readable text.',
  },
} satisfies DescribedObjects
