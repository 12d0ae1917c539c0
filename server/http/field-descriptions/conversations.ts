// Descriptions for the API reference: conversations, search, shares, exports and imports.
import type { z } from 'zod'
import type { Branch, BranchList } from '../../protocol/conversations/branch.ts'
import type {
  BulkBody,
  BulkResult,
  Conversation,
  ConversationChannel,
  PinOrderBody,
  TagList,
} from '../../protocol/conversations/conversation.ts'
import type { ExportedConversation, Imported } from '../../protocol/conversations/export.ts'
import type { SearchHit, SearchPage } from '../../protocol/conversations/search.ts'
import type { Share, ShareBody, SharedConversation } from '../../protocol/conversations/share.ts'
import type {
  CreateExportBody,
  ExportJob,
  ImportJob,
} from '../../protocol/conversations/transfer.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { MESSAGE } from './messages.ts'
import { APPROVAL, CREATED, PAGE, REASON, UPDATED } from './shared.ts'

const chat = {
  id: 'The id of the channel.',
  name: 'The name of the channel at that time.',
  type: 'The kind of channel.',
  chat_name: 'How the chat was called.',
} satisfies FieldsOf<ConversationChannel>

const conversation = {
  id: 'Identifies the conversation.',
  title:
    'The title, of up to 255 characters. If it is empty, the beginning of the first message stands for it until one is generated.',
  model: 'The id of the model. Null: the default model.',
  project_id: 'The project whose files and documents the conversation can use. Null: none.',
  scratch_project_id:
    'The project with the files of this conversation alone, made with the first one. Null: none. Without `project_id`, the conversation uses it.',
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
  approval_deadline:
    'Seconds after which a request for a decision expires, so that the run goes on without the call. Null: none does.',
  leaf_id: 'The last message of the branch that is shown. Null while there are no messages.',
  message_count: 'The number of messages in all branches.',
  active_run_id:
    'The unfinished run of the conversation; of two answers to one question, the first. Null: none.',
  active_run_status:
    '`awaiting_approval` or `awaiting_input` while the active run waits for a person.',
  beside_run_id:
    'The run that writes a second answer to the same question while `active_run_id` writes one. Null: none.',
  created_at: CREATED,
  updated_at: UPDATED,
  deleted_at: 'When the conversation was moved to the trash. Null: it is not in the trash.',
  temporary: 'Whether the conversation is in no list and is removed soon after its run has ended.',
  tags: 'The tags of the conversation, up to 20 of up to 50 characters each.',
  schedule_id: 'The schedule that made it. Absent: none.',
  channel: within('The chat of a messenger to which it belongs. Absent: none.', chat),
} satisfies FieldsOf<Conversation>

const transfer = {
  status: '`queued` and `running`: it is not finished; `completed` and `failed` are final.',
  error: 'Why it failed, for a person. Null: it did not.',
  ...REASON,
  created_at: 'When it was requested.',
  ended_at: 'When it was finished. Null: it is not.',
}

const SHARE_INCLUDE =
  'What is shown besides the texts: `files`, `tools` (calls and results), `thinking`, `apps` (with the files of their folders).'

/** By the id of a schema in the reference. */
export const CONVERSATION_DESCRIPTIONS = {
  ConversationChannel: chat,
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
  SearchHit: {
    type: 'Where the words were found: the title of a conversation, a message, a tool call or result, an attached file, or a document.',
    conversation_id: 'The conversation. Null for a document of a project.',
    message_id: 'The message. Absent for titles and documents.',
    step_id: 'The step of an answer that contains the words. Absent: none.',
    file_id: 'The attached file that contains the words. Absent: none.',
    file_name: 'The name of this file. Absent: none.',
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
    token:
      'Identifies the share, and is all that is needed to read it. Null if the secret key that it was encrypted with is gone; the link still works.',
    url: 'The link for visitors. Null if `token` is.',
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
      apps: within('The apps that the answer has written, as they were. Absent: none.', {
        path: 'The path, also below the address of the share at the origin of apps.',
        kind: 'How it runs: `html`, `svg`, `component`, `diagram` or `document`.',
      }),
      sources: within('The sources that the answer cites. Absent: none.', {
        number: 'The number of the source in the text.',
        title: 'The title of the page, or the name of the document.',
        place: 'The site, or the place in the document.',
        url: 'The address of the page. Absent for documents.',
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
      id: MESSAGE.id,
      parent_id: MESSAGE.parent_id,
      role: MESSAGE.role,
      text: MESSAGE.text,
      token_count: MESSAGE.token_count,
      model: `${MESSAGE.model} Null: none.`,
      status: MESSAGE.status,
      error: MESSAGE.error,
      origin: MESSAGE.origin,
      created_at: CREATED,
      attachments: 'The files of the message, with their contents.',
      steps: 'The steps of an answer, in order.',
      edited_from: MESSAGE.edited_from,
      feedback: MESSAGE.feedback,
      receipt: 'What the answer did, as a copy. Absent: it called no tools.',
      acted: 'With `receipt`: whether the answer used a tool that can do harm.',
      plan: MESSAGE.plan,
      citations: MESSAGE.citations,
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
      skills: 'The number of new skills.',
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
