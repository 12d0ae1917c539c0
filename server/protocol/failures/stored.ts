// Failures that no request runs into: of documents, deliveries and MCP servers. Stored or listed, with their English texts.
import { z } from 'zod'
import { ErrorParams } from '../error.ts'
import { fillIn, type ParamNames } from './text.ts'

/** `reason` → text. Each text completes "the document …", "the delivery …" or "the server …" for a person. */
export const storedFailures = {
  document_archive_unsupported: '{{extension}} archive is not supported',
  document_archive_unknown: 'this kind of archive is not supported',
  document_binary: 'it is a binary file; text, Markdown, PDF, DOCX, HTML and CSV are supported',
  document_docx_damaged: 'the DOCX file is damaged',
  document_empty: 'it holds no text',
  document_lost: 'the upload was lost; upload it again',
  document_not_indexed: 'it could not be indexed',
  document_not_what_its_name_says:
    'its name ends in {{extension}}, but its content is something else',
  document_page_too_deep: 'the page is nested too deeply',
  document_pdf_damaged: 'the PDF is damaged',
  document_pdf_protected: 'the PDF is protected by a password',
  document_reader_not_started: 'the reader could not be started',
  document_reading_stopped: 'it was cancelled',
  document_reading_too_slow: 'it took too long to read',
  document_scanned: 'it holds no text (a scan has to be run through OCR first)',
  document_too_large: 'the file is too large',
  document_too_large_to_read: 'it is too large to be read',
  document_unreadable: 'the file could not be read',

  delivery_channel_kind_gone: 'this kind of channel is no longer offered',
  delivery_failed: 'sending failed',
  delivery_mail_not_set_up: 'this server no longer has SMTP settings',
  delivery_mail_refused: 'the mail server refused it ({{status}})',
  delivery_mail_unreachable: 'the mail server could not be reached or was busy',
  delivery_receiver_unreachable: '{{detail}}',
  delivery_refused: 'the receiver answered {{status}}',
  delivery_settings_unfit: 'the settings of this channel no longer fit',

  mcp_command_not_found: 'its command was not found on the server',
  mcp_command_not_allowed: 'its command may not be run',
  mcp_connection_failed: 'the connection failed or broke',
  mcp_connection_refused: 'it refused the connection',
  mcp_credentials_refused: 'it refused our credentials',
  mcp_ended: 'it ended',
  mcp_host_unknown: 'its host name is unknown',
  mcp_too_slow: 'it did not answer in time',
} as const satisfies Record<string, string>

export type StoredFailureReason = keyof typeof storedFailures

/** As it is stored beside its English text. A reason of an earlier or later version is shown by that text. */
export const StoredFailure = z.object({ reason: z.string(), params: ErrorParams.optional() })
export type StoredFailure = z.infer<typeof StoredFailure>

/** The same with its English text. */
export const DescribedFailure = StoredFailure.extend({ message: z.string() })
export type DescribedFailure = z.infer<typeof DescribedFailure>

/** Of a text from elsewhere, such as a receiver's. */
const MAX_PARAMETER_CHARACTERS = 300

type Params<Reason extends StoredFailureReason> = Record<
  ParamNames<(typeof storedFailures)[Reason]>,
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
    message: fillIn(storedFailures[reason], values),
  }
}
