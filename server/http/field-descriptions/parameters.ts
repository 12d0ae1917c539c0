// Descriptions for the API reference: the parameters in paths and queries.
import type { z } from 'zod'
import type { AuditFilter } from '../../protocol/admin/audit.ts'
import type { ConversationListQuery } from '../../protocol/conversations/conversation.ts'
import type { SearchQueryString } from '../../protocol/conversations/search.ts'
import type { PageQuery } from '../../protocol/envelope.ts'
import type { InputItemsQuery, ResponseQuery } from '../../protocol/openai/responses.ts'
import type { PassageQuery } from '../../protocol/projects/knowledge.ts'
import type { CheckpointDiffQuery } from '../../protocol/projects/project.ts'
import type { FieldsOf } from './describe-fields.ts'

type Texts = Readonly<Record<string, string>>

/** The parameters of paths, by the end of the path up to the parameter. */
const PATH_PARAMETERS: Texts = {
  'auth/keys/{id}': 'The id of the API key.',
  'auth/passkeys/{id}': 'The id of the passkey.',
  'auth/sessions/{id}': 'The id of the session.',
  'users/{id}': 'The id of the account.',
  'sessions/{session_id}': 'The id of the session.',
  'invitations/{id}': 'The id of the invitation.',
  'groups/{id}': 'The id of the group.',
  'members/{user_id}': 'The id of the account.',
  'mcp/{name}': 'The name of the MCP server.',
  'prompts/{server}': 'The name of the MCP server.',
  'prompts/{server}/{name}': 'The name of the prompt.',
  'resources/{server}': 'The name of the MCP server.',
  'mcp/apps/{server}': 'The name of the MCP server.',
  'models/{id}': 'The id of the model.',
  'models/{*}': 'The id of the model. It may contain `/`.',
  'conversations/{id}': 'The id of the conversation.',
  'citations/{cid}': 'The id of the citation, such as `c1`.',
  'messages/{mid}': 'The id of the message.',
  'regenerate/{mid}': 'The id of the answer to replace, or of the message to answer.',
  'attachments/{position}': 'The position of the attachment in its message, from 0.',
  'background/{bid}': 'The id of the background task.',
  'shared/{token}': 'The token of the share.',
  'shared/{token}/files/{id}': 'The number of the file within the share.',
  'api/files/{id}': 'The id of the file.',
  'exports/{id}': 'The id of the export.',
  'imports/{id}': 'The id of the import.',
  'runs/{id}': 'The id of the run.',
  'approvals/{id}': 'The id of the request.',
  'apps/{id_ref}': 'The id of the tool call whose result the app shows.',
  'calls/{call_ref}': 'The id of the call that the app has made.',
  'a/{token}': 'The token of the link.',
  'grants/{id}': 'The id of the grant.',
  'schedules/{id}': 'The id of the schedule.',
  'hooks/{token}': 'The token of the hook.',
  'responses/{id}': 'The id of the response.',
  'projects/{id}': 'The id of the project.',
  'files/{*}': 'The path of the file or folder in the project. It may contain `/`.',
  'previews/{*}': 'The path of the file in the project. It may contain `/`.',
  'checkpoints/{cid}': 'The id of the checkpoint.',
  'members/{principal}':
    'The member: `user:<id>`, `user:@<name>`, `group:<id>`, `group:@<name>` or `everyone`.',
  'documents/{did}': 'The id of the document.',
  'skills/{source}': 'Where the skill comes from: `project`, `user` or `server`.',
  'skills/{source}/{name}': 'The name of the skill.',
  'skills/user/{name}': 'The name of the skill.',
  'apps/{id}': 'The id of the open app.',
  'channels/{id}': 'The id of the channel.',
  'senders/{sid}': 'The id of the sender.',
  'webhooks/{id}': 'The id of the webhook.',
  'subscriptions/{id}': 'The id of the subscription.',
}

const CURSOR = 'The `next_cursor` of the previous page. Default: the first page.'
const page = (size: number) =>
  ({
    limit: `The maximum number of items to return. Default: ${size}.`,
    cursor: CURSOR,
  }) satisfies FieldsOf<z.infer<typeof PageQuery>>

const auditFilter = {
  action: 'Only entries of this action.',
  user_id: 'Only what this account did.',
  from: 'Only entries from this time on.',
  to: 'Only entries up to this time.',
} satisfies FieldsOf<z.infer<typeof AuditFilter>>

const SKILLS: Texts = { project_id: 'The project whose skills count, too. Default: none.' }

/** Other parameters, by path. Most routes describe those that they declare themselves. */
const QUERY_PARAMETERS: Readonly<Record<string, Texts>> = {
  '/api/admin/audit': { ...page(50), ...auditFilter },
  '/api/admin/audit/file': auditFilter,
  '/api/conversations': {
    ...page(20),
    project_id: 'Only conversations of this project.',
    q: 'Only conversations whose title contains this text.',
    archived: 'Whether to list the archived conversations instead of all others. Default: false.',
    pinned: 'Only conversations that are, or are not, pinned. Default: both.',
    trashed:
      'Whether to list the trash, last deleted first, instead. `archived` is then ignored. Default: false.',
    tag: 'Only conversations with this tag.',
  } satisfies FieldsOf<z.infer<typeof ConversationListQuery>>,
  '/api/search': {
    ...page(20),
    q: 'What to find: words, `"phrases"`, `-excluded`, `in:project`, `tag:name`, `by:me`, `has:file`.',
    type: 'Only hits of this kind. Default: all.',
    project_id: 'Only hits in this project.',
    conversation_id: 'Only hits in this conversation.',
    from: 'Only hits created at this time or later.',
    to: 'Only hits created before this time.',
  } satisfies FieldsOf<z.infer<typeof SearchQueryString>>,
  '/api/shares': page(20),
  '/api/schedules/preview': {
    cron: 'The pattern.',
    every: 'The interval, instead of a pattern.',
    tz: 'The time zone of the pattern. Default: that of your preferences.',
    count: 'How many times to return. Default: 5.',
  },
  '/api/project-files': {
    q: 'Words that the path contains, in any case; one of them is in the name.',
    project_id: 'The only project to look through. Default: the 20 that changed last.',
  },
  '/api/projects/{id}/files': {
    path: 'The path of the folder. Default: the top folder of the project.',
  },
  '/api/projects/{id}/files/{*}': {
    raw: 'Whether to download the file as it is, of any type. Default: `0`.',
    'if-match':
      'The `ETag` that you have read; the write is refused if the file has changed. `version` in the body takes precedence.',
  },
  '/api/projects/{id}/checkpoints/{cid}/diff': {
    against:
      '`change` (default): what the change did; `now`: what a restore would undo, from then to now.',
  } satisfies FieldsOf<z.infer<typeof CheckpointDiffQuery>>,
  '/api/projects/{id}/documents': {
    ...page(50),
    without_file:
      'Whether to return only uploaded documents, without files of the project. Default: `false`.',
  },
  '/api/projects/{id}/documents/{did}/passages': {
    position: 'The first passage to return, from 0. Default: 0.',
    limit: 'The maximum number of passages to return. Default: 10.',
  } satisfies FieldsOf<z.infer<typeof PassageQuery>>,
  '/api/mcp/apps/{server}': {
    uri: 'The address of the document, as a tool or the list of resources names it.',
  },
  '/api/skills': SKILLS,
  '/api/commands': SKILLS,
  '/api/skills/{source}/{name}': SKILLS,
  '/api/skills/{source}/{name}/file': {
    ...SKILLS,
    path: 'The path of the file in the folder of the skill.',
  },
  '/v1/responses/{id}': {
    stream: 'Whether to follow the response as a stream of events. Default: false.',
    starting_after: 'With `stream`: only events with a larger `sequence_number`. Default: all.',
  } satisfies FieldsOf<z.infer<typeof ResponseQuery>>,
  '/v1/responses/{id}/input_items': {
    after: 'The `last_id` of the page before. Default: none, for the first page.',
    limit: 'The number of messages, 1 to 100. Default: 20.',
    order: '`desc`: newest first; `asc`: oldest first. Default: `desc`.',
  } satisfies FieldsOf<z.infer<typeof InputItemsQuery>>,
}
/** The parameters of all other lists. */
const LIST: Texts = page(50)

/** A parameter of an operation in the reference. */
export interface Parameter {
  $ref?: string
  name?: string
  in?: string
  description?: string
}

/** Adds the descriptions to the parameters of an operation. Existing descriptions stay. */
export function describeParameters(path: string, parameters: readonly Parameter[]): void {
  for (const parameter of parameters) {
    const description =
      parameter.in === 'path'
        ? pathParameter(path, `{${parameter.name}}`)
        : (QUERY_PARAMETERS[path] ?? LIST)[parameter.name ?? '']
    if (description !== undefined) parameter.description ??= description
  }
}

/** The text for the longest known end of the path up to the parameter. */
function pathParameter(path: string, placeholder: string): string | undefined {
  const upToIt = path.slice(0, path.indexOf(placeholder) + placeholder.length)
  const [longest] = Object.keys(PATH_PARAMETERS)
    .filter((end) => upToIt.endsWith(`/${end}`))
    .toSorted((one, other) => other.length - one.length)
  return longest === undefined ? undefined : PATH_PARAMETERS[longest]
}
