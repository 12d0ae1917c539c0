// Descriptions for the API reference: messages, the requests that create them, files.
import type { z } from 'zod'
import type { EncodingChoice, FileInfo, FileText } from '../../protocol/conversations/file.ts'
import type {
  Attachment,
  EditMessageBody,
  Feedback,
  FileAttachment,
  Message,
  RegenerateBody,
  ReviseAnswerBody,
  SendMessageBody,
  SetFeedbackBody,
  StoredAttachment,
} from '../../protocol/conversations/message.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { ORIGIN, TIMING, USAGE } from './runs.ts'
import { APPROVAL, CREATED, MODEL_ID } from './shared.ts'

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
  approval_deadline:
    'Seconds after which a request for a decision expires, so that the run goes on without the call. Null: none does. Default: that of the conversation.',
  on_disconnect:
    'What happens to the run when nobody listens to it: `grace` (default): it stops after the configured time; `stop`: it stops at once; `continue`: it goes on.',
  skills:
    'Names of skills whose instructions go with this message, up to 5. `research` also gives the run the limits of `research` in the configuration. An unknown name is refused with `skill_unknown`.',
  client_id:
    'Your id for this request. A second request with the same id joins the run of the first.',
  parent_id:
    'The assistant message below which the message is added. Default: the end of the branch that is shown.',
} satisfies FieldsOf<SendMessageBody>

const feedback = {
  rating: 'Whether the answer was good (`up`) or bad (`down`).',
  note: 'What was good or bad about it. Absent: no note.',
} satisfies FieldsOf<Feedback>

/** One node of the tree of a conversation. */
export const MESSAGE = {
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
  timing: within(
    'How long the answer took. Null until it has ended, and for answers from before this was stored.',
    TIMING,
  ),
  model: 'The id of the model that wrote the answer.',
  quiet:
    'Whether it is folded, because its run found nothing that you have to read. Absent: it is not.',
  run_id: 'The run that wrote the answer. Null: none, for example after an import.',
  parent_id: 'The message before this one. Null: it is the first one.',
  siblings: 'The ids of all messages with the same parent, including this one, oldest first.',
  status: 'The status of the answer. Messages of users are always `completed`.',
  error: 'Why the answer failed, as a text for a person. Null: it did not fail.',
  error_code: 'Why the answer failed: an error code. Null: it did not fail.',
  error_reason: 'A more specific reason than `error_code`, as `reason` in error responses.',
  error_params: 'The values in the text of `error`, by placeholder, for translations.',
  finish_reason:
    'Why the run ended. After `max_iterations` and `budget`, it can be resumed, unless its limit is `complete`. Null: it has not ended.',
  limit: 'The limit that ended the run with `budget`. Null: none.',
  edited_from: 'The id of the answer that a person changed into this one. Absent: none.',
  feedback: 'The rating that a person gave the answer. Absent: none.',
  receipt: 'What an answer with tool calls did, in numbers. Absent: no calls, or it has not ended.',
  plan: 'The plan that the answer follows. Absent: none.',
  citations: 'The quotes to which the answer refers. Absent: none.',
  unknown_citations:
    'References like `[c9]` in the answer to which no citation belongs. Absent: none.',
  origin: ORIGIN,
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
  encoding:
    'The encoding in which a text was read, by its name in the Encoding Standard. Absent for other files.',
  error:
    'Why no text, or only a part of it, could be read from the file, for a person. Absent: no error.',
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

/** By the id of a schema in the reference. */
export const MESSAGE_DESCRIPTIONS = {
  Message: MESSAGE,
  CompleteAnswer: { message: 'The answer.', run: 'The run that wrote it.' },
  SendMessage: runOptions,
  EditMessage: {
    ...runOptions,
    attachments:
      'Ids of uploaded files, or contents inside the request. Up to 20. Default: the attachments of the message.',
  } satisfies FieldsOf<EditMessageBody>,
  Regenerate: {
    ...runOptions,
    beside:
      'Whether the answer is written while another one to the same message is, and does not take its place. One at a time. Default: false.',
  } satisfies FieldsOf<RegenerateBody>,
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
    error: file.error,
    reason: file.reason,
    params: file.params,
    document: within(
      'The document of the project that was created because the file is too large for the context window. Absent: none.',
      { id: 'Identifies the document.', project_id: 'The project of the document.' },
    ),
    url: 'The path of the content on this server. It requires authentication.',
  } satisfies FieldsOf<StoredAttachment>,
  File: file,
  EncodingChoice: {
    encoding:
      'The encoding of the bytes, as a label of the Encoding Standard, such as `windows-1252`.',
  } satisfies FieldsOf<z.infer<typeof EncodingChoice>>,
  ReadableText: {
    name: file.name,
    text: 'The text that models read. Null for images and for documents without readable text.',
    encoding:
      'The encoding in which a text was read, by its name in the Encoding Standard. Null for other files, and for those read by a version that did not say it.',
  } satisfies FieldsOf<FileText>,
}
