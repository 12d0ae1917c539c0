// Descriptions for the API reference: what administrators see and change.
import type { AuditEntry } from '../../protocol/admin/audit.ts'
import type { AdminUser, Group } from '../../protocol/admin/group.ts'
import type {
  AcceptMcpToolBody,
  AdminMcpServer,
  McpServerTest,
  PatchMcpServerBody,
} from '../../protocol/admin/mcp-server.ts'
import type {
  AccountStorage,
  AdminRun,
  HealthFinding,
  ServerSettings,
  StorageOverview,
  StoredBytes,
} from '../../protocol/admin/server.ts'
import type { ReportedUsage, UsageReport, UsageTotal } from '../../protocol/admin/usage.ts'
import type { McpProblem, McpServer } from '../../protocol/models/mcp.ts'
import { ACCOUNT_DESCRIPTIONS } from './accounts.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { CREATED, PAGE, REASON } from './shared.ts'

const storedBytes = {
  projects: 'Bytes of the current files of projects.',
  history:
    'Bytes on the disk of earlier contents of these files: of checkpoints, which count toward the quota, and of copies for the next command, which do not.',
  files: 'Bytes of files attached to messages.',
  documents: 'Bytes of documents.',
  total: 'The sum in bytes.',
} satisfies FieldsOf<StoredBytes>

const usage = {
  prompt_tokens: 'Tokens that the models read.',
  completion_tokens: 'Tokens that the models wrote, including those of thinking.',
  total_tokens: 'The sum of `prompt_tokens` and `completion_tokens`.',
  cached_tokens: 'The part of `prompt_tokens` that providers read from their caches.',
  cost: 'The cost by currency, at the prices of the time of use. Empty: no model has a price.',
} satisfies FieldsOf<UsageTotal>

const group = {
  id: 'Identifies the group.',
  name: 'The name of the group, of up to 100 characters.',
  description: 'What the group is for, in up to 500 characters. Empty: no description.',
  models: 'Ids of the models that members may use. Null: not restricted by this group.',
  tools:
    'Names of the server’s own tools that members may use. Null: not restricted by this group.',
  mcp_servers: 'Names of the MCP servers that members may use. Null: not restricted by this group.',
  approval_modes:
    'The approval modes that members may choose; `ask` is always allowed. Null: not restricted by this group.',
  features:
    'Parts of the product that members have: `schedules`, `channels`, `apps`, `sharing_projects`. Null: not restricted by this group.',
  quota: 'The limits of each member. The limits of an account take precedence.',
  shared_quota: 'The limits of all members together.',
  member_count: 'The number of members.',
  created_at: CREATED,
} satisfies FieldsOf<Group>

const effective = {
  registration: 'Who can create an account.',
  sharing: 'Whether users may share conversations.',
  default_model: 'The default model. Null: the first model.',
  default_approval: 'The default approval mode.',
}
const serverSettings = {
  registration:
    'Who can create an account: `open`: everybody; `invite`: who has an invitation; `closed`: nobody. Null: as configured.',
  sharing: 'Whether users may share conversations. Null: as configured.',
  model_order: 'Ids of models in the order of lists. All others follow.',
  hidden_models: 'Ids of the models that only the lists of administrators contain.',
  default_model: 'The model of conversations that have not chosen one. Null: as configured.',
  default_approval:
    'The approval mode of conversations that have not chosen one, as far as the groups of the user permit it. Null: as configured.',
  effective: within('The settings that apply now.', effective),
  configured: within('The settings that would apply if none were stored.', effective),
} satisfies FieldsOf<ServerSettings>

/** An MCP server as every user sees it. */
export const MCP_SERVER = {
  name: 'The name of the server.',
  transport: '`stdio`: a program that this server starts; `http`: an address.',
  state:
    '`connecting`: an attempt is in progress; `connected`; `waiting`: the last attempt failed and will be repeated.',
  auth: 'Whether you have to sign in to the server: `none`: no; `needed`: yes, and you have not; `connected`: you have.',
  era: 'The generation of the protocol: `modern`: revision 2026-07-28 or later; `legacy`: an earlier one. Null before the first connection.',
  tools: within('The tools of the server. Empty while it is not connected.', {
    name: 'The name of the tool on the server.',
    description: 'What the tool does, in the words of the server.',
    read_only: 'Whether the server declares that the tool changes nothing.',
  }),
  error: 'Why the server is not connected, for a person. Null: no error.',
  ...REASON,
} satisfies FieldsOf<McpServer>

const PROGRAM_OUTPUT =
  'The end of what a program printed on its standard error, without secrets. Null: nothing, or it has a URL.'
const PROBLEMS = 'What was odd in the lists of the server. Everything else works.'
const MCP_PROBLEM = {
  kind: 'What was odd: `tool`, `prompt`, `resource` or `template` (of resources).',
  name: 'Its name, or its place in the list, as in `#3`.',
  problem:
    '`fields_ignored`: some of its fields are not used; otherwise it was left out: `unreadable`: without a usable name or address; `schema_unusable`: its arguments would not be an object; `schema_too_large`; `duplicate_name`: an earlier tool has the same name; `too_many`: the list is too long from here on.',
  fields: 'The names of the fields that are not used.',
} satisfies FieldsOf<McpProblem>

const OAUTH_CLIENT = {
  client_id: 'The id of this server as an OAuth client. Absent: it registers itself.',
  client_secret:
    'The secret of the client, stored encrypted. Absent: the stored secret stays if `client_id` and `url` are unchanged.',
  scope: 'The scopes to request, separated by spaces. Default: what the server suggests.',
}
const mcpServerSettings = {
  name: 'The name: up to 40 letters, digits, `-` and single `_`.',
  url: 'The `http://` or `https://` address, without a password.',
  headers: 'Headers of every request, by name. Their values are stored encrypted.',
  trust_hints:
    'Whether hints of the server may lower the risk level of its tools below `medium`. Default: false.',
  users: 'Names of the users who may use it, besides administrators. Null: everybody.',
  oauth: within('For servers that people sign in to. Null: none.', OAUTH_CLIENT),
  enabled: 'Whether the server is connected. Default: true.',
  tools:
    'Switches tools on (true) or off (false), by their names as models see them. A tool that is off is neither sent to models nor called. Tools that are absent stay as they are.',
} satisfies FieldsOf<PatchMcpServerBody & { name: string }>

const changedTool = {
  tool: 'The name of the tool.',
  key: 'Identifies the description.',
} satisfies FieldsOf<AcceptMcpToolBody>

/** By the id of a schema in the reference. */
export const ADMINISTRATION_DESCRIPTIONS = {
  AdminUser: {
    ...ACCOUNT_DESCRIPTIONS.User,
    groups: within('The groups of the account.', {
      id: 'Identifies the group.',
      name: 'The name of the group.',
    }),
    quota: 'The limits of the account itself, without those of groups and of the server.',
  } satisfies FieldsOf<AdminUser>,
  PatchUser: {
    role: 'The new role.',
    is_active: 'Whether its owner can sign in. False ends all sessions.',
    quota: 'The limits to change.',
  },
  AdminRun: {
    id: 'Identifies the run.',
    user_id: 'The account that started it.',
    username: 'The name of that account.',
    model: 'The id of the model.',
    kind: '`chat`: the answer to a message; `background`: a background task.',
    status: 'The status of the run.',
    iteration: 'The number of the current iteration.',
    started_at: 'When it started, or was created if it is still queued.',
  } satisfies FieldsOf<AdminRun>,
  HealthFinding: {
    state:
      '`ok`; `warn`: it works, but not as well as it could; `fail`: the server or a configured feature does not work.',
    code: 'What was found, by name.',
    params: 'The values in `detail` and `advice`, for translations.',
    subject: 'What was checked, in English.',
    detail: 'What was found, in English.',
    advice: 'What to do, in English. Null: nothing.',
  } satisfies FieldsOf<HealthFinding>,
  ServerSettings: serverSettings,
  PatchServerSettings: serverSettings,
  AccountStorage: {
    ...storedBytes,
    user_id: 'The account.',
    username: 'The name of the account.',
    limit: 'The limit in bytes for projects, files, documents and the history that counts.',
  } satisfies FieldsOf<AccountStorage>,
  StorageOverview: {
    ...PAGE,
    all: within('What all accounts store together.', storedBytes),
  } satisfies FieldsOf<StorageOverview>,
  UsageTotal: usage,
  ReportedUsage: {
    id: 'Identifies the account or group. Null: the accounts without a group.',
    name: 'The name of the account or group. Null: the accounts without a group.',
    ...usage,
  } satisfies FieldsOf<ReportedUsage>,
  UsageReport: {
    ...PAGE,
    month: 'The calendar month (`YYYY-MM`, UTC).',
    first_month: 'The oldest month with usage. Null: there is none.',
    total: 'The usage of all accounts together, on all pages.',
  } satisfies FieldsOf<UsageReport>,
  AuditEntry: {
    id: 'Identifies the entry.',
    at: 'When it happened.',
    action: 'What was done.',
    user_id: 'The account that did it. Null: nobody was signed in, or the command line was used.',
    username: 'The name of that account at the time. Null: none.',
    address: 'The IP address of the client. Null: none.',
    details: 'More about the action, without secrets.',
  } satisfies FieldsOf<AuditEntry>,
  Group: group,
  CreateGroup: group,
  PatchGroup: group,
  McpProblem: MCP_PROBLEM,
  AdminMcpServer: {
    ...MCP_SERVER,
    state: `${MCP_SERVER.state} \`off\`: an administrator switched it off.`,
    tools: within('All its tools. Empty while it is not connected.', {
      name: 'The name of the tool as models see it.',
      description: 'What the tool does, in the words of the server.',
      read_only: 'Whether the server declares that the tool changes nothing.',
      enabled: 'Whether it is on. A tool that is off is neither sent to models nor called.',
      tokens: 'The estimated tokens that it takes of each request in which it is listed.',
    }),
    users: 'Names of the users who may use it, besides administrators. Null: everybody.',
    groups: 'Names of the groups that restrict MCP servers and permit this one.',
    source:
      '`config`: from `config.yml`, only its switch can be changed here; `store`: added by an administrator.',
    url: 'The address of an added server. Null for servers from `config.yml`.',
    headers: 'The names of the headers of an added server.',
    trust_hints: 'Whether its hints may lower the risk level of its tools below `medium`.',
    oauth: within('The OAuth client of an added server. Null: none.', {
      client_id: OAUTH_CLIENT.client_id,
      has_secret: 'Whether a secret is stored.',
      scope: 'The requested scopes. Null: what the server suggests.',
    }),
    needs_settings:
      'Whether the stored address and headers can no longer be read, so that you must enter them again.',
    problems: PROBLEMS,
    output: PROGRAM_OUTPUT,
    tool_tokens: 'How many tokens its tools take of each request, estimated.',
    changed_tools: within(
      'Tools that describe themselves differently since `tools.risk` lowered their risk level. Their own level applies until an administrator accepts the change.',
      {
        ...changedTool,
        risk: 'The level in `tools.risk`.',
        description: 'What the tool now says of itself.',
        schema: 'The schema of its arguments as JSON, cut after 20,000 characters.',
        since: 'When this description was first seen.',
      },
    ),
  } satisfies FieldsOf<AdminMcpServer>,
  AcceptMcpTool: changedTool,
  CreateMcpServer: mcpServerSettings,
  PatchMcpServer: mcpServerSettings,
  TestMcpServer: {
    ...mcpServerSettings,
    name: 'The name of an existing server, whose stored settings apply to absent fields, or of a new one.',
  },
  McpServerTest: {
    state: 'The result of the connection.',
    era: MCP_SERVER.era,
    tools: within('The tools of the server.', {
      name: 'The name of the tool on the server.',
      description: 'What the tool does, in the words of the server.',
      risk: 'The risk level that its calls would have.',
    }),
    error: 'Why the connection failed, for a person. Null: it did not.',
    ...REASON,
    problems: PROBLEMS,
    output: PROGRAM_OUTPUT,
  } satisfies FieldsOf<McpServerTest>,
}
