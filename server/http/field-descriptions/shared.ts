// Descriptions of fields that many schemas have, and of the form of every response.
import type { z } from 'zod'
import type { Deleted } from '../../protocol/envelope.ts'
import type { ErrorBody } from '../../protocol/error.ts'
import { type Descriptions, type FieldsOf, within } from './describe-fields.ts'

export const CREATED = 'When it was created.'
export const UPDATED = 'When it was last changed.'
export const APPROVAL =
  'Which tool calls wait for a person: `ask`: those of medium and high risk; `auto_medium`: those of high risk; `auto`: none.'
export const COOKIE =
  'Whether to set a cookie that renews the token, as pages need. The token is then valid for minutes. Default: false: the token is valid for seven days.'
export const MODEL_ID = 'The id of a model from `GET /api/models`.'

/** The machine-readable form of the text in a field `error`. */
export const REASON = {
  reason: 'The machine-readable reason of `error`, as `reason` in error responses. Null: no error.',
  params: 'The values in the text of `error`, by placeholder, for translations.',
}

export const PAGE = {
  items: 'The items of this page.',
  next_cursor: 'Send it as `cursor` to get the next page. Null on the last page.',
  has_more: 'Whether there is a next page.',
}

/** The fields that enclose the result of a request. */
export const ENVELOPE: Descriptions = {
  code: 'Always 0.',
  message: 'What was done.',
  data: within('The result.', { ...PAGE, items: 'The items of the list or of this page of it.' }),
}

/** By the id of a schema in the reference. */
export const SHARED_DESCRIPTIONS = {
  Deleted: { code: 'Always 0.', message: 'What was done.' } satisfies FieldsOf<
    z.infer<typeof Deleted>
  >,
  Error: {
    code: 'The HTTP status.',
    message: 'What happened and what to do, as a text for a person.',
    error: 'The error code: the kind of failure, which decides the HTTP status.',
    reason: 'The machine-readable reason. It is more specific than `error`, or equal to it.',
    params: 'The values in `message`, by placeholder, for translations. Absent: none.',
    request_id:
      'Identifies the request, also in the header `X-Request-Id` and in the log of the server.',
    details:
      'More about the failure. For `validation_failed`: the first 20 wrong fields, each with its `path` and a `message`. Absent: none.',
  } satisfies FieldsOf<ErrorBody>,
}
