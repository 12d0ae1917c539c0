// Descriptions for the API reference: grants.
import type {
  CreateGrantBody,
  DecidedGrant,
  Grant,
  GrantPattern,
  GrantPreview,
  GrantSample,
  PreviewGrantBody,
} from '../../protocol/runs/grant.ts'
import { type Descriptions, type FieldsOf, within } from './describe-fields.ts'
import { CREATED } from './shared.ts'

const PATTERN = {
  equals: 'The argument has this value.',
  one_of: 'The argument has one of these values.',
  prefix:
    'The argument is a text that begins like this. After the prefix of a command come its end or white space, and nothing that begins another command.',
  glob: 'The argument is a text of this form: `*` stands for any text without `/`, `**` for any text.',
  any: 'The argument may be anything, or absent.',
} satisfies FieldsOf<GrantPattern>

const MATCH = within(
  'One pattern for each argument. An argument that it does not name must be absent or have its default.',
  PATTERN,
)

const rule = {
  scope:
    '`conversation`, `project`, or `schedule`: the runs that a schedule starts, by its times or its hook.',
  scope_id: 'The id of the conversation, project or schedule.',
  tool: 'The name of the tool.',
  match: MATCH,
  even_tainted:
    'Also in conversations that contain text from outside. Only for calls of risk `medium` whose arguments are limited.',
  expires_at: 'Until when it holds. Default: for good.',
  max_uses: 'How many calls it lets through. Default: any number.',
  approval_id: 'The request that it is made for.',
  anyway: 'Stores it although it would have allowed a call that you rejected.',
} satisfies FieldsOf<CreateGrantBody>

const sample = {
  approval_id: 'The request.',
  name: 'The name of the tool.',
  arguments: 'What was decided about; long texts are cut.',
  state: 'How you decided.',
} satisfies FieldsOf<GrantSample>

const { approval_id: _request, ...decided } = rule

/** What a grant says that a decision stores. */
export const DECIDED_GRANT = {
  ...decided,
  scope_id: 'The id of the conversation, project or schedule. Default: that of the run.',
  tool: 'The name of the tool. Default: that of the call.',
} satisfies FieldsOf<DecidedGrant>

/** By the id of a schema in the reference. */
export const GRANT_DESCRIPTIONS = {
  GrantPattern: PATTERN,
  CreateGrant: rule,
  PreviewGrant: {
    ...rule,
    match: within(
      'One pattern for each argument. With `approval_id`, default: the suggested match.',
      PATTERN,
    ),
    approval_id: 'The request whose call the suggested match covers.',
  } satisfies FieldsOf<PreviewGrantBody>,
  DecidedGrant: DECIDED_GRANT,
  Grant: {
    id: 'Identifies the grant. The steps of calls that it let through have it as `grant_id`.',
    scope: rule.scope,
    scope_id: rule.scope_id,
    scope_name: 'The title of the conversation, or the name of the project or schedule.',
    tool: rule.tool,
    match: within('The pattern of each argument. Null: every call of the tool.', PATTERN),
    even_tainted: 'Whether it also holds in conversations that contain text from outside.',
    run_id: 'The only run in which it holds. Null: every run in its scope.',
    expires_at: 'Until when it holds. Null: for good.',
    max_uses: 'How many calls it lets through. Null: any number.',
    uses: 'How many calls it has let through.',
    last_used_at: 'When it last let a call through. Null: never.',
    created_at: CREATED,
    created_from: 'The request for which it was made. Null: none.',
    stale:
      'Whether the description or schema of the tool has changed since, so that it is no longer used.',
  } satisfies FieldsOf<Grant>,
  GrantSample: sample,
  GrantPreview: {
    would_allow: within('How many of the calls that you decided it would have allowed.', {
      approved: 'Calls that you approved.',
      rejected: 'Calls that you rejected.',
    }),
    samples: within('Up to 20 of these calls, rejected ones first.', sample),
    suggested: within(
      'With `approval_id`: the narrowest match that covers its call and your earlier approved calls that differ from it in at most one argument.',
      PATTERN,
    ),
  } satisfies FieldsOf<GrantPreview>,
} satisfies Readonly<Record<string, Descriptions>>
