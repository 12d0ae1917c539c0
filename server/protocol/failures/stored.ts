// Failures that occur outside of a request, of documents, deliveries, MCP servers and imports, with their English texts.
import { z } from 'zod'
import type { ParamNames } from '../../../locales/parameters.ts'
import { ErrorParams } from '../error.ts'
import { fillIn } from '../failures.ts'

// Why exports and imports fail, and why an import leaves something out, with their English texts.

/** `reason` → text. Each text completes "the export failed: …", "the import failed: …" or "<what> was left out: …". */
const TRANSFER_FAILURES = {
  blobs_unreachable: 'the storage of files is not available; try again later',
  export_failed: 'an unexpected error occurred; see the server log for details',
  export_interrupted: 'the server restarted in the meantime; start the export again',
  import_already_there: 'it was already imported',
  import_archive_bomb: 'its compression ratio is above {{ratio}}, which no genuine export reaches',
  import_archive_damaged: 'the archive is damaged or incomplete; download it again',
  import_archive_encrypted:
    'it is password-protected; unpack the archive and pack it again without a password',
  import_archive_too_large: 'the unpacked archive is larger than {{limit}}',
  import_archive_too_many_files: 'the archive has more than {{limit}} files',
  import_conversation_too_large: 'it is larger than {{limit}}',
  import_cycle: 'its messages form a cycle',
  import_database_unreadable: 'the SQLite file is damaged or has an unknown schema',
  import_disk_full: "the server's disk is full",
  import_entry_link: 'it is a link',
  import_entry_unsafe: 'its name points outside the archive',
  import_failed: 'an unexpected error occurred; see the server log for details',
  import_file_missing: 'it is missing from the export',
  import_file_refused: 'this server does not accept it: {{detail}}',
  import_format_unknown:
    'this is not an export from NanoClaw, ChatGPT, Claude, Open WebUI or LibreChat, nor a SQLite file of the Python NanoClaw',
  import_in_trash: 'it is in the trash; restore it there',
  import_interrupted:
    'the server restarted in the meantime; import the file again (what is already there is not imported twice)',
  import_json_damaged: 'the JSON is damaged or incomplete',
  import_marks_unknown:
    'marks of this kind in “{{conversation}}” are not known, and the export does not contain what they show',
  import_no_messages: 'it contains no messages',
  import_out_of_memory: 'it needs more memory than an import is allowed to use',
  import_parts_unknown: 'parts of this kind in “{{conversation}}” are not known and were left out',
  import_project_exists: 'you already have a project with this name; its files were not changed',
  import_storage_full:
    'your storage has no room for its texts; delete some conversations, shared links or files and import it again (what is already there is not imported twice)',
  import_too_many_messages: 'it has more than {{limit}} messages',
  import_too_slow: 'reading it took too long',
  import_unreadable: 'it does not have the expected structure ({{detail}})',
} as const satisfies Record<string, string>

/** `reason` → text. Why a page that is watched could not be read, and why the command of a check says nothing: whole sentences. */
const LOOK_FAILURES = {
  command_disk_full: 'The command filled the disk beyond what may be stored.',
  command_memory_exceeded: 'The command used more than {{size}} of memory.',
  command_not_started: 'The command could not be started on this server.',
  command_stopped: 'The command was ended before it had finished.',
  command_timed_out: 'The command did not finish within {{seconds}} seconds.',
  command_too_many_processes: 'The command had more than {{limit}} processes at once.',
  look_failed: 'An unexpected error occurred. See the server log for details.',
  page_address_refused: 'This server is not allowed to fetch this address.',
  page_certificate_invalid: 'The certificate of the page’s server is invalid.',
  page_closed_connection: 'The page’s server closed the connection.',
  page_host_unknown: 'The host name of the page could not be found.',
  page_not_fetched: 'The page could not be fetched.',
  page_refused: 'The page responded with status {{status}}.',
  page_refused_connection: 'The page’s server refused the connection.',
  page_timed_out: 'The page’s server did not respond in time.',
  page_type_unsupported: 'Content of the type {{type}} cannot be read.',
  page_unreachable: 'The page’s server could not be reached.',
  page_unreadable: 'The page is damaged, protected, too large or too deeply nested.',
  page_without_text: 'The page contains no text that can be read.',
} as const satisfies Record<string, string>

/** `reason` → text. Each text that is written here completes "the document …", "the delivery …" or "the server …" for a person. */
export const STORED_FAILURES = {
  document_archive_unsupported: '{{extension}} archives are not supported',
  document_archive_unknown: 'this archive format is not supported',
  document_binary:
    'it is a binary file; text, Markdown, PDF, DOCX, XLSX, PPTX, HTML and CSV are supported',
  document_docx_damaged: 'the DOCX file is damaged',
  document_empty: 'it contains no text',
  document_lost: 'the upload was lost; upload it again',
  document_not_indexed: 'it could not be indexed',
  document_not_what_its_name_says:
    'its name ends in {{extension}}, but its content has a different format',
  document_office_damaged: 'the {{extension}} file is damaged',
  document_page_too_deep: 'the page is nested too deeply',
  document_partly_read: 'there is no text that can be read on these pages: {{pages}}',
  document_pdf_damaged: 'the PDF is damaged',
  document_pdf_protected: 'the PDF is password-protected',
  document_pdf_xfa:
    'it is a form in Adobe’s XFA format (print it to a PDF in Adobe Acrobat and attach that file)',
  document_reader_not_started: 'the program that reads documents could not be started',
  document_reading_stopped: 'it was cancelled',
  document_reading_too_slow: 'it took too long to read',
  document_scanned: 'it contains no text (run a scanned document through OCR first)',
  document_too_large: 'the file is too large',
  document_too_large_to_read: 'it is too large to read',
  document_unreadable: 'the file could not be read',

  recording_not_transcribed: 'it is a recording that could not be transcribed: {{detail}}',
  recording_silent: 'it is a recording in which nothing could be heard',
  recording_speech_off: 'it is a recording, and this server has no service that transcribes it',
  recording_too_slow: 'it is a recording, and transcribing it took too long',
  recording_unheard: 'it is a recording, which only people can hear',

  channel_app_token_refused:
    'Slack refuses the app-level token; it begins with xapp- and needs the scope connections:write',
  channel_bot_conflict: 'another program receives the messages of this bot',
  channel_bot_refused: 'the service refuses the bot; check its token',
  channel_bot_token_refused:
    'Slack refuses the bot token; it begins with xoxb- and is shown under “OAuth & Permissions” once the app is installed',
  channel_chat_unknown:
    'the bot does not know this chat; write to it there first, or add it to the group',
  channel_mailbox_folder_unknown: 'the mailbox has no such folder',
  channel_mailbox_refused: 'the mailbox refuses the user name or password',
  channel_socket_mode_off:
    'Socket Mode is off for this app; turn it on in the settings of the app at Slack',
  delivery_no_chat: 'nobody has written to this bot yet, so it knows no chat',
  delivery_channel_kind_gone: 'this server no longer offers this type of channel',
  delivery_failed: 'sending failed',
  delivery_mail_certificate_expired:
    'the certificate of the mail server has expired or is not valid yet',
  delivery_mail_certificate_other_host:
    'the certificate of the mail server belongs to another host',
  delivery_mail_certificate_self_signed: 'the certificate of the mail server is self-signed',
  delivery_mail_certificate_untrusted:
    'the certificate of the mail server comes from an authority that this server does not trust',
  delivery_mail_host_unknown: 'the host name of the mail server could not be found',
  delivery_mail_login_refused: 'the mail server rejected the user name or password of this server',
  delivery_mail_not_set_up: 'this server no longer has SMTP settings',
  delivery_mail_refused_connection: 'the mail server refused the connection',
  delivery_mail_refused: 'the mail server rejected it ({{status}})',
  delivery_mail_unconfirmed:
    'the owner of {{address}} has not agreed to receive email from this server',
  delivery_mail_unreachable: 'the mail server was busy or could not be reached',
  delivery_receiver_address_refused: 'this server is not allowed to send to the receiver’s address',
  delivery_receiver_certificate_invalid: 'the receiver’s certificate is invalid',
  delivery_receiver_closed_connection: 'the receiver closed the connection',
  delivery_receiver_host_unknown: 'the receiver’s host name could not be found',
  delivery_receiver_refused_connection: 'the receiver refused the connection',
  delivery_receiver_timed_out: 'the receiver did not respond in time',
  delivery_receiver_unreachable: 'the receiver could not be reached',
  delivery_refused: 'the receiver responded with status {{status}}',
  delivery_secret_unreadable:
    'its stored address or secret can no longer be decrypted; restore the secret key of this server, or set it up again',
  delivery_service_refused: 'the service refused it: {{detail}}',
  delivery_settings_unfit: 'the settings of this channel are no longer valid',

  mcp_certificate_invalid: 'its certificate is not valid, or this server does not trust it',
  mcp_command_not_found: 'its command “{{command}}” was not found on the server',
  mcp_command_not_allowed: 'running its command is not allowed',
  mcp_connection_failed: 'the connection failed or was lost',
  mcp_connection_refused: 'it refused the connection',
  mcp_credentials_refused: 'it rejected the credentials',
  mcp_ended: 'its process exited',
  mcp_folder_not_found: 'its working folder was not found on the server',
  mcp_host_unknown: 'its host name is unknown',
  mcp_sign_in_needed: 'you need to sign in',
  mcp_settings_unreadable:
    'its stored settings can no longer be decrypted; edit it and enter its address again',
  mcp_too_slow: 'it did not respond in time',
  mcp_wrong_address: 'there is no MCP server at its URL',

  ...LOOK_FAILURES,
  ...TRANSFER_FAILURES,
} as const satisfies Record<string, string>

/** Why something failed that is stored: a run, a document, a transfer, a delivery. */
export type StoredFailureReason = keyof typeof STORED_FAILURES

/** A failure as it is stored beside its English text, which is shown for a reason that the page does not know. */
export const StoredFailure = z.object({ reason: z.string(), params: ErrorParams.optional() })
/** A failure as it is stored: its reason and parameters, without the text. */
export type StoredFailure = z.infer<typeof StoredFailure>

/** The same with its English text. */
export const DescribedFailure = StoredFailure.extend({ message: z.string() })
/** A failure with its text in English. */
export type DescribedFailure = z.infer<typeof DescribedFailure>

/** The length of a parameter with text from outside, such as a mail server's. */
const MAX_PARAMETER_CHARACTERS = 300

type Params<Reason extends StoredFailureReason> = Record<
  ParamNames<(typeof STORED_FAILURES)[Reason]>,
  string | number
>

/** The failure of a reason; a parameter is cut to 300 characters. */
export function storedFailure<Reason extends StoredFailureReason>(
  reason: Reason,
  ...[params]: Record<never, never> extends Params<Reason> ? [] : [params: Params<Reason>]
): DescribedFailure {
  const values: ErrorParams = Object.fromEntries(
    Object.entries<string | number>(params ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, MAX_PARAMETER_CHARACTERS) : value,
    ]),
  )
  return {
    reason,
    ...(Object.keys(values).length === 0 ? {} : { params: values }),
    message: fillIn(STORED_FAILURES[reason], values),
  }
}

/** The English text of a stored failure; its reason when that is unknown, as after a downgrade. */
export const storedFailureText = ({ reason, params }: StoredFailure): string => {
  const texts: Record<string, string> = STORED_FAILURES
  return fillIn(texts[reason] ?? reason, params ?? {})
}

/** A failure as responses carry it: for a person, and as reason and parameters for translations. Nothing without one. */
export const failureFields = (
  failure: DescribedFailure | null,
): { error?: string; reason?: string; params?: ErrorParams } =>
  failure === null
    ? {}
    : {
        error: failure.message,
        reason: failure.reason,
        ...(failure.params === undefined ? {} : { params: failure.params }),
      }
