// Descriptions for the API reference: conversations, messages, files, search, shares, exports and imports.
import type { z } from 'zod'
import type { Branch, BranchList } from '../../protocol/conversations/branch.ts'
import type {
  BulkBody,
  BulkResult,
  Conversation,
  PinOrderBody,
  TagList,
} from '../../protocol/conversations/conversation.ts'
import type { ExportedConversation, Imported } from '../../protocol/conversations/export.ts'
import type { FileInfo, FileText } from '../../protocol/conversations/file.ts'
import type {
  Attachment,
  EditMessageBody,
  Feedback,
  FileAttachment,
  Message,
  ReviseAnswerBody,
  SendMessageBody,
  SetFeedbackBody,
  StoredAttachment,
} from '../../protocol/conversations/message.ts'
import type { SearchHit, SearchPage } from '../../protocol/conversations/search.ts'
import type { Share, ShareBody, SharedConversation } from '../../protocol/conversations/share.ts'
import type {
  CreateExportBody,
  ExportJob,
  ImportJob,
} from '../../protocol/conversations/transfer.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { TIMING, USAGE } from './runs.ts'
import { APPROVAL, CREATED, MODEL_ID, PAGE, REASON, UPDATED } from './shared.ts'

const conversation = {
  id: 'Identifies the conversation.',
  title:
    'The title, of up to 255 characters. If it is empty, one is generated after the first answer.',
  model: 'The id of the model. Null: the default model.',
  project_id: 'The project whose files and documents the conversation can use. Null: none.',
  project_name: 'The name of the project. Null without a project.',
  system_prompt: 'Instructions for the model, in addition to those of the server. Null: none.',
  temperature: 'The sampling temperature, from 0 to 2. Null: the default of the model.',
  max_tokens: 'The maximum number of tokens in one response of the model. Null: its default.',
  thinking_enabled: 'Whether the model may think before it answers.',
  approval: `${APPROVAL} Null: the default of the server.`,
  disabled_mcp_servers: 'Names of the MCP servers that this conversation does not use.',
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
  tags: 'The tags of the conversation, up to 20 of up to 50 characters each.',
} satisfies FieldsOf<Conversation>

const TOOL_CHOICE = within(
  'Whether the model may (`auto`), must not (`none`) or must (`required`) call tools, or which tool it must call.',
  {
    type: 'Always `function`.',
    function: within('The tool to call.', { name: 'The name of the tool.' }),
  },
)

const runOptions = {
  text: 'The text of the message. It may be empty if there are attachments.',
  attachments: 'Ids of uploaded files, or contents inside the request. Up to 20.',
  tools_enabled: 'Whether the model may call tools. Default: true.',
  project_id: 'The project of this run. Default: the project of the conversation.',
  model: `${MODEL_ID} Default: the model of the conversation.`,
  stream:
    'Whether the response is a stream of events. With false, it is the complete answer. Default: true.',
  stream_mode:
    '`cumulative` (default): each event contains the whole text of its step so far; `delta`: only what was added.',
  tool_choice: TOOL_CHOICE,
  approval: `${APPROVAL} Default: the mode of the conversation.`,
  on_disconnect:
    'What happens to the run when nobody listens to it: `grace` (default): it stops after the configured time; `stop`: it stops at once; `continue`: it goes on.',
  client_id:
    'Your id for this request. A second request with the same id joins the run of the first.',
  parent_id:
    'The assistant message below which the message is added. Default: the end of the branch that is shown.',
} satisfies FieldsOf<SendMessageBody>

const feedback = {
  rating: 'Whether the answer was good (`up`) or bad (`down`).',
  note: 'What was good or bad about it. Absent: no note.',
} satisfies FieldsOf<Feedback>

const message = {
  id: 'Identifies the message.',
  role: 'Who wrote the message.',
  text: 'The text of the message. In an answer: the text of its `text` steps.',
  attachments: 'The files of the message. Absent: none.',
  tool_calls: within('The tool calls of an answer, in the format of OpenAI.', {
    id: 'The id of the call.',
    type: 'Always `function`.',
    function: within('What is called.', {
      name: 'The name of the tool.',
      arguments: 'The arguments as JSON text.',
    }),
    result: 'The result as JSON text. Null: none yet.',
  }),
  process_steps: 'The steps of an answer, in order.',
  token_count: 'The completion tokens of an answer.',
  usage: within(
    'Tokens and cost of the run that wrote the answer. Null until there are any.',
    USAGE,
  ),
  timing: within('How long the answer took. Null for answers from before this was stored.', TIMING),
  model: 'The id of the model that wrote the answer.',
  run_id: 'The run that wrote the answer. Null: none, for example after an import.',
  parent_id: 'The message before this one. Null: it is the first one.',
  siblings: 'The ids of all messages with the same parent, including this one, oldest first.',
  status: 'The status of the answer. Messages of users are always `completed`.',
  error: 'Why the answer failed, as a text for a person. Null: it did not fail.',
  error_code: 'Why the answer failed: an error code. Null: it did not fail.',
  error_reason: 'A more specific reason than `error_code`, as `reason` in error responses.',
  error_params: 'The values in the text of `error`, by placeholder, for translations.',
  finish_reason:
    'Why the run ended. After `max_iterations` and `budget`, it can be resumed. Null: it has not ended.',
  limit: 'The limit that ended the run with `budget`. Null: none.',
  edited_from: 'The id of the answer that a person changed into this one. Absent: none.',
  feedback: 'The rating that a person gave the answer. Absent: none.',
  created_at: CREATED,
} satisfies FieldsOf<Message>

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
  params: 'The values in the text of `error`, by placeholder, for translations.',
  created_at: CREATED,
} satisfies FieldsOf<FileInfo>

const attachment = {
  file_id: 'The id of an uploaded file.',
  name: 'The name of the file.',
  mime: 'The media type of an image.',
  data: 'The image, base64.',
  extension: 'The extension of a text file, without a dot. Default: from the name.',
  content: 'The text of a text file.',
} satisfies FieldsOf<Attachment | z.infer<typeof FileAttachment>>

const transfer = {
  status: '`queued` and `running`: it is not finished; `completed` and `failed` are final.',
  error: 'Why it failed, for a person. Null: it did not.',
  ...REASON,
  created_at: 'When it was requested.',
  ended_at: 'When it was finished. Null: it is not.',
}

const SHARE_INCLUDE =
  'What is shown besides the texts: `files`, `tools` (calls and results), `thinking`.'

/** By the id of a schema in the reference. */
export const CONVERSATION_DESCRIPTIONS = {
  Conversation: conversation,
  CreateConversation: conversation,
  PatchConversation: {
    ...conversation,
    tags: 'All tags of the conversation; replaces the old ones.',
  },
  BulkConversations: {
    ids: 'The conversations to change, up to 100.',
    action: 'What to do with each. `delete` moves it to the trash.',
  } satisfies FieldsOf<z.infer<typeof BulkBody>>,
  BulkResult: {
    changed: 'The conversations that were changed.',
    not_found: 'The conversations that you do not have, or no longer have.',
  } satisfies FieldsOf<z.infer<typeof BulkResult>>,
  PinOrder: {
    ids: 'The pinned conversations from top to bottom, up to 200.',
  } satisfies FieldsOf<z.infer<typeof PinOrderBody>>,
  TagList: {
    items: within('Your tags.', {
      tag: 'The tag.',
      count: 'The number of conversations outside the trash that have it.',
    }),
  } satisfies FieldsOf<z.infer<typeof TagList>>,
  Branch: {
    message_id: 'The first message of the branch. Set `leaf_id` to it to show the branch.',
    parent_id: 'The first message of the branch from which this one forks. Null: it has none.',
    role: 'Who wrote the first message.',
    text: 'The beginning of the first message.',
    model: 'The id of the model of the first message. Null: not stored.',
    status: 'The status of the first message.',
    messages: 'The number of messages up to the next fork.',
    shown: 'Whether it is part of the branch that is shown.',
    created_at: 'When the first message was created.',
  } satisfies FieldsOf<Branch>,
  BranchList: {
    items: 'The branches between the forks of the conversation, oldest first.',
    truncated: 'Whether there are more branches than are listed.',
  } satisfies FieldsOf<z.infer<typeof BranchList>>,
  Message: message,
  CompleteAnswer: { message: 'The answer.', run: 'The run that wrote it.' },
  SendMessage: runOptions,
  EditMessage: {
    ...runOptions,
    attachments:
      'Ids of uploaded files, or contents inside the request. Up to 20. Default: the attachments of the message.',
  } satisfies FieldsOf<EditMessageBody>,
  Regenerate: runOptions,
  ReviseAnswer: {
    text: 'The new text of the answer.',
  } satisfies FieldsOf<z.infer<typeof ReviseAnswerBody>>,
  Feedback: feedback,
  SetFeedback: {
    feedback: within('The rating. Null removes it.', {
      ...feedback,
      note: 'What was good or bad about the answer, in up to 2,000 characters. Default: no note.',
    }),
  } satisfies FieldsOf<z.infer<typeof SetFeedbackBody>>,
  Attachment: attachment,
  NewAttachment: attachment,
  StoredAttachment: {
    file_id: 'The id of the file. Absent while an attachment of an earlier version is converted.',
    name: file.name,
    mime: 'The media type; `text/plain` for text.',
    size: 'The size of the file in bytes.',
    extension: 'The extension of the file name, without a dot.',
    width: file.width,
    height: file.height,
    pages: file.pages,
    document: within(
      'The document of the project that was created because the file is too large for the context window. Absent: none.',
      { id: 'Identifies the document.', project_id: 'The project of the document.' },
    ),
    url: 'The path of the content on this server. It requires authentication.',
  } satisfies FieldsOf<StoredAttachment>,
  File: file,
  ReadableText: {
    name: file.name,
    text: 'The text that models read. Null for images and for documents without readable text.',
  } satisfies FieldsOf<FileText>,
  SearchHit: {
    type: 'Where the words were found: the title of a conversation, a message, a tool call or result, an attached file, or a document.',
    conversation_id: 'The conversation. Null for a document of a project.',
    message_id: 'The message. Absent for titles and documents.',
    step_id: 'The step of an answer that contains the words. Absent: none.',
    file_id: 'The attached file that contains the words. Absent: none.',
    document_id: 'The document that contains the words. Absent: none.',
    passage: 'The position of the passage in its document, from 0. Absent: none.',
    page: 'The page of the file or document, from 1. Absent: unknown.',
    title: 'The title of the conversation, or the name of the document.',
    snippet:
      'The text around the words, as HTML: everything is escaped, and each word is in `<mark>`.',
    role: 'Who wrote the message. Absent: it is none.',
    project_id: 'The project. Null: none.',
    created_at: CREATED,
  } satisfies FieldsOf<SearchHit>,
  SearchPage: {
    ...PAGE,
    indexed:
      'The share of your messages that search can find, from 0 to 1. Below 1 while older messages are being indexed.',
  } satisfies FieldsOf<z.infer<typeof SearchPage>>,
  ShareConversation: {
    expires_at: 'When the link stops working. Null: never.',
    password: 'A password that visitors must enter. Null: none.',
    include: `${SHARE_INCLUDE} Null: only the texts.`,
  } satisfies FieldsOf<ShareBody>,
  Share: {
    conversation_id: 'The shared conversation.',
    title: 'Its title.',
    token: 'Identifies the share, and is all that is needed to read it.',
    url: 'The link for visitors.',
    include: SHARE_INCLUDE,
    has_password: 'Whether visitors must enter a password.',
    views: 'How many times the page was opened.',
    created_at: CREATED,
    renewed_at: 'When the copy that visitors see was made.',
    expires_at: 'When the link stops working. Null: never.',
  } satisfies FieldsOf<Share>,
  SharedConversation: {
    title: 'The title of the conversation.',
    created_at: 'When the copy was made.',
    expires_at: 'When the link stops working. Null: never.',
    include: SHARE_INCLUDE,
    messages: within('The messages of the shared branch, oldest first.', {
      role: 'Who wrote the message.',
      created_at: CREATED,
      text: 'What a user wrote. Empty for an answer, which consists of steps.',
      steps: within('The steps of an answer, in order. Empty for a message of a user.', {
        type: 'The kind of step.',
        content: 'The text of the step, or the result of a call.',
        name: 'The name of the tool.',
        arguments: 'The arguments as JSON text.',
      }),
      files: within('The files of the message.', {
        id: 'The number of the file within the share.',
        name: 'The name of the file.',
        mime: 'The media type.',
        size: 'The size in bytes.',
      }),
    }),
  } satisfies FieldsOf<z.infer<typeof SharedConversation>>,
  ExportedConversation: {
    format: 'Always `nanoclaw`.',
    version: 'The version of this format.',
    conversation: within('The settings of the conversation.', {
      ...conversation,
      id: 'The id of the conversation on the server that exported it. Absent in older exports.',
    }),
    messages: within('All messages, in the order of their creation.', {
      id: message.id,
      parent_id: message.parent_id,
      role: message.role,
      text: message.text,
      token_count: message.token_count,
      model: `${message.model} Null: none.`,
      status: message.status,
      error: message.error,
      created_at: CREATED,
      attachments: 'The files of the message, with their contents.',
      steps: 'The steps of an answer, in order.',
      edited_from: message.edited_from,
      feedback: message.feedback,
    }),
  } satisfies FieldsOf<ExportedConversation>,
  Imported: {
    id: 'The new conversation.',
    messages: 'The number of its messages.',
  } satisfies FieldsOf<z.infer<typeof Imported>>,
  CreateExport: {
    conversation_ids:
      'The conversations to export with their files, up to 1,000. Default: everything that you have.',
  } satisfies FieldsOf<NonNullable<z.infer<typeof CreateExportBody>>>,
  ExportJob: {
    ...transfer,
    id: 'Identifies the export.',
    progress: within('How far it is.', {
      done: 'The number of exported conversations.',
      total: 'The number of all conversations to export. 0: not known yet.',
    }),
    size: 'The size of the file in bytes. Null until it is complete.',
    expires_at: 'When the file is deleted. Null until it is complete.',
  } satisfies FieldsOf<ExportJob>,
  ImportJob: {
    ...transfer,
    id: 'Identifies the import.',
    name: 'The name of the imported file.',
    format: 'The program that wrote the file. Null: not known yet.',
    progress: within('How far it is.', {
      done: 'The number of bytes that were read.',
      total: 'The size of the file in bytes. 0: not known yet.',
    }),
    report: within('What was added. Null until it is finished.', {
      conversations: 'The number of new conversations.',
      messages: 'The number of new messages.',
      files: 'The number of new files.',
      projects: 'The number of new projects.',
      documents: 'The number of new documents.',
      skipped: within('What was left out: the first 1,000.', {
        what: 'Its title or name.',
        why: 'The reason, in English.',
        reason: 'The machine-readable reason.',
        params: 'The values in the text of `why`, by placeholder, for translations.',
      }),
      skipped_total: 'The number of all that was left out.',
    }),
  } satisfies FieldsOf<ImportJob>,
}
