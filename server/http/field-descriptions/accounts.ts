// Descriptions for the API reference: accounts, sign-in, keys, preferences, quotas.
import type { z } from 'zod'
import type { Preferences } from '../../protocol/accounts/preferences.ts'
import type {
  PushSettings,
  PushSubscriptionBody,
  StoredPushSubscription,
} from '../../protocol/accounts/push.ts'
import type { Quota, QuotaReport, SharedQuota, StorageUse } from '../../protocol/accounts/quota.ts'
import type {
  AccountLink,
  AuthMode,
  ChangedProfile,
  ConfirmationState,
  CreatedApiKey,
  CreatedResetLink,
  LinkBody,
  LoginBody,
  PatchProfileBody,
  RegisterBody,
  ResetPasswordBody,
  Session,
  SignedIn,
  User,
} from '../../protocol/accounts/user.ts'
import type {
  CreatedInvitation,
  CreateInvitationBody,
  Invitation,
} from '../../protocol/admin/invitation.ts'
import type { MemoryContent, WriteMemoryBody } from '../../protocol/projects/knowledge.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { COOKIE, CREATED } from './shared.ts'

const LINK = 'The token of the link: the part after `#` in its URL.'
const NEW_PASSWORD = 'The new password, of 8 to 200 characters.'
const REVOKE_KEYS = 'Whether to delete all API keys of the account, too. Default: false.'

const user = {
  id: 'Identifies the account.',
  username: 'The name with which its owner signs in.',
  email: 'The email address. Null: none.',
  avatar: 'The picture of the account. Null: none.',
  role: '`admin`: may manage the server; `user`: may not.',
  is_active: 'Whether its owner can sign in.',
  created_at: CREATED,
} satisfies FieldsOf<User>

const spending = {
  tokens_per_day: 'Tokens of model calls per day (UTC). Null: no limit.',
  tokens_per_month: 'Tokens of model calls per month (UTC). Null: no limit.',
  cost_per_day:
    'Cost of model calls per day (UTC), in each currency of the prices. Null: no limit.',
  cost_per_month:
    'Cost of model calls per month (UTC), in each currency of the prices. Null: no limit.',
} satisfies FieldsOf<SharedQuota>
const quota = {
  ...spending,
  concurrent_runs: 'Unfinished runs at the same time. Null: no limit.',
  requests_per_minute: 'Requests per minute. Null: no limit.',
  storage: 'Bytes of projects, their history, documents and files. Null: no limit.',
  program_seconds_per_day:
    'Seconds per day (UTC) that Python programs and shell commands may run. Null: no limit.',
  channel_runs_per_hour: 'Runs that each sender at a messenger may start per hour. Null: 60.',
  messages_per_day: 'Messages to channels per day (UTC). Null: no limit.',
  schedules: 'Schedules of the account. Null: as configured.',
  projects_shared: 'Projects of the account that have other members. Null: no limit.',
} satisfies FieldsOf<Quota>

const apiKey = {
  id: 'Identifies the key.',
  name: 'A name by which you recognize the key.',
  prefix: 'The first characters of the key.',
  scopes:
    'What the key may do. `read`: GET requests under `/api`; `api`: everything under `/api` except administration; `admin`: administration, too; `v1`, `mcp`: the interfaces at these paths. Null: everything that its owner may do, except creating keys and managing sessions and the password.',
  program_tools:
    'Whether answers under `/v1` use the tools of the server: `plain`: none; `tools`: all that the owner may use. The model name and the header of a request come first. Null: all, unless the program brings its own.',
  created_at: CREATED,
  expires_at: 'When the key stops working. Null: never.',
  last_used_at: 'When the key was last used. Null: never.',
  key: 'The key itself. No later response contains it.',
} satisfies FieldsOf<z.infer<typeof CreatedApiKey>>

const invitation = {
  id: 'Identifies the invitation.',
  role: 'The role of the account that it creates.',
  quota: 'The limits of the account that it creates.',
  group: within('The group that the account joins. Null: none, or the group was deleted.', {
    id: 'Identifies the group.',
    name: 'The name of the group.',
  }),
  note: 'A note for administrators, for example whom they invited. Null: none.',
  created_at: CREATED,
  expires_at: 'When the link stops working.',
  used_at: 'When somebody registered with it. Null: nobody has.',
  user_id: 'The account that was created with it. Null: none.',
  token: 'The secret part of the link. No later response contains it.',
  url: 'The link for the new user. No later response contains it.',
} satisfies FieldsOf<z.infer<typeof CreatedInvitation>>

const preferences = {
  instructions: 'How models should answer in every conversation. Empty: no instructions.',
  disabled_tools: 'Names of the tools that no conversation uses.',
  hidden_models:
    'Ids of the models that menus leave out. Conversations that use them can continue to.',
  model_order: 'Ids of models in the order of menus. All others follow in the order of the server.',
  ask: within(
    'How you are told of requests that nobody decides. Each entry is used once per request.',
    {
      through: '`push`, or `channel:` and the name of one of your channels.',
      after:
        'Seconds that the request has waited. While a page follows the run, the entry waits until the last one has left.',
      detail:
        '`name`: the tool and its risk; `preview`: also what the call would do. Not for `push`.',
    },
  ),
  time_zone: 'The time zone of schedules, such as `Europe/Berlin`. Empty: none is chosen.',
  saved_prompts: within('Prompts to insert into messages, in order. Their names differ.', {
    name: 'The name of the prompt.',
    text: 'The text. The page asks for the values of `{{name}}` placeholders.',
  }),
  skills_off: 'Names of the skills that you do not use.',
} satisfies FieldsOf<Preferences>

/** By the id of a schema in the reference. */
export const ACCOUNT_DESCRIPTIONS = {
  User: user,
  ChangedProfile: {
    ...user,
    api_keys: 'The number of API keys that still work.',
  } satisfies FieldsOf<z.infer<typeof ChangedProfile>>,
  PatchProfile: {
    email: 'The email address. Null removes it.',
    avatar: 'The picture, of up to 200,000 characters. Null removes it.',
    password: `${NEW_PASSWORD} Ends all other sessions.`,
    current_password: 'The current password. Required with `password`.',
    revoke_keys:
      'With `password`: whether to delete all API keys of the account, too. Default: false.',
  } satisfies FieldsOf<z.infer<typeof PatchProfileBody>>,
  AuthMode: {
    mode: '`single`: one user without sign-in; `multi`: accounts.',
    registration:
      'Who can create an account: `open`: everybody; `invite`: who has an invitation; `closed`: nobody.',
    oidc: 'The name of the single sign-on. Absent: there is none.',
    passkeys: 'Present if passkeys work at the address of this request.',
    mail: 'Present if the server can send links by email.',
    password_off: 'Present if only the emergency account can sign in with a password.',
    first_user:
      'Present if there is no account yet and you may create the first one, which becomes the administrator’s.',
    setup_link:
      'Present if there is no account yet and creating one requires the link that the server printed at its start.',
  } satisfies FieldsOf<z.infer<typeof AuthMode>>,
  Register: {
    username: 'The name to sign in with: 2 to 50 letters, digits and `_`, `.`, `@`, `-`.',
    password: 'The password, of 8 to 200 characters.',
    email: 'The email address. Default: none.',
    link: 'The token of an invitation or of the setup link: the part after `#` in its URL.',
    cookie: COOKIE,
  } satisfies FieldsOf<z.infer<typeof RegisterBody>>,
  Login: {
    username: 'The name of the account.',
    password: 'The password of the account.',
    cookie: COOKIE,
  } satisfies FieldsOf<z.infer<typeof LoginBody>>,
  SignedIn: {
    token: 'The session token. Send it as `Authorization: Bearer <token>`.',
    expires_in: 'Seconds until the token expires.',
    user: 'The account.',
  } satisfies FieldsOf<z.infer<typeof SignedIn>>,
  SignedOut: {
    code: 'Always 0.',
    message: 'What was done.',
    data: within('Only after single sign-on, if its issuer has to end the session, too.', {
      url: 'The page at the issuer that ends its session. Open it in the browser.',
    }),
  },
  AccountLink: {
    kind: 'What the link does: `setup`: creates the first account; `invitation`: creates an account; `reset`: sets a new password; `confirmation`: confirms an email address.',
    role: 'The role of the account that the link creates. Null for other links.',
    username: 'The account whose password the link resets. Null for other links.',
    address: 'The email address that the link confirms. Null or absent for other links.',
    expires_at: 'When the link stops working. Null: when the first account exists.',
  } satisfies FieldsOf<AccountLink>,
  Link: { link: LINK } satisfies FieldsOf<z.infer<typeof LinkBody>>,
  ForgottenPassword: { email: 'The confirmed email address of the account.' },
  Confirmation: { address: 'The new email address. Default: that of the account.' },
  ConfirmationState: {
    address: 'The email address of the account. Null: none.',
    is_confirmed: 'Whether its owner has confirmed the address.',
  } satisfies FieldsOf<z.infer<typeof ConfirmationState>>,
  ResetPassword: {
    link: LINK,
    password: NEW_PASSWORD,
    revoke_keys: REVOKE_KEYS,
    cookie: COOKIE,
  } satisfies FieldsOf<z.infer<typeof ResetPasswordBody>>,
  ResetLink: {
    add_password:
      'Whether an account without a password gets one, too. Without it, such a request is refused. Default: false.',
  },
  CreatedResetLink: {
    token: 'The secret part of the link. No later response contains it.',
    url: 'The link for the owner of the account. No later response contains it.',
    expires_at: 'When the link stops working.',
  } satisfies FieldsOf<z.infer<typeof CreatedResetLink>>,
  Session: {
    id: 'Identifies the session.',
    kind: '`page`: a cookie renews it; `token`: one token, until it expires.',
    user_agent: 'The `User-Agent` header of the sign-in.',
    address: 'The IP address from which the user signed in.',
    created_at: 'When the user signed in.',
    last_used_at: 'When it was last used.',
    expires_at: 'When it ends if it is not used.',
    current: 'Whether it is the session of this request.',
  } satisfies FieldsOf<Session>,
  Invitation: invitation satisfies FieldsOf<Invitation>,
  CreatedInvitation: invitation,
  CreateInvitation: {
    role: 'The role of the account that it creates. Default: `user`.',
    quota: 'The limits of the account that it creates. Default: none.',
    group_id: 'The group that the account joins. Default: none.',
    note: 'A note for administrators, for example whom they invite. Default: none.',
    expires_in_hours: 'Hours until the link stops working, up to 2160. Default: 168.',
  } satisfies FieldsOf<z.infer<typeof CreateInvitationBody>>,
  ApiKey: apiKey,
  CreatedApiKey: apiKey,
  CreateApiKey: {
    ...apiKey,
    scopes: `${apiKey.scopes.replace('Null:', 'Default:')}`,
    program_tools: `${apiKey.program_tools.replace('Null:', 'Default:')}`,
    expires_at: 'When the key stops working. Default: never.',
  },
  Preferences: preferences,
  PatchPreferences: preferences,
  PushSettings: {
    public_key: 'The `applicationServerKey` for the subscription of a browser, base64url.',
  } satisfies FieldsOf<z.infer<typeof PushSettings>>,
  PushSubscription: {
    endpoint: 'The URL at which the vendor of the browser accepts notifications.',
    keys: within('The keys that notifications are encrypted with, base64url.', {
      p256dh: 'The public key of the browser: a point of P-256.',
      auth: 'A secret of 16 bytes.',
    }),
  } satisfies FieldsOf<PushSubscriptionBody>,
  StoredPushSubscription: {
    id: 'Identifies the subscription.',
  } satisfies FieldsOf<z.infer<typeof StoredPushSubscription>>,
  Quota: quota,
  PatchQuota: quota,
  SharedQuota: spending,
  PatchSharedQuota: spending,
  QuotaReport: {
    items: within('The limits that apply to the user.', {
      kind: 'What is limited.',
      group: 'The group whose members share this limit. Null: it is the limit of the user alone.',
      limit: 'The limit, in the unit of `kind`.',
      used: 'How much of it is used. Null: not counted in advance (requests per minute).',
      currency: 'For a cost: the currency of `used`. Null: no cost yet, or not a cost.',
      renews_at: 'When the count starts again from 0. Null: at no fixed time.',
    }),
    approval_modes: 'The approval modes that the user may choose.',
    default_approval: 'The approval mode of conversations that have not chosen one.',
    speech: within('Which services for speech the server has.', {
      transcribe: 'Whether recordings can be transcribed.',
      speak: 'Whether texts can be read aloud.',
    }),
  } satisfies FieldsOf<QuotaReport>,
  StorageUse: {
    limit: 'The bytes that the user may store.',
    used: 'The bytes that count for every change of files: projects, attached files and documents.',
    used_with_texts:
      'The bytes that count for imports, shared copies and messages: `used` with all texts.',
    items: within('What is stored, by kind. All kinds are listed.', {
      kind: '`history`: earlier versions of project files, which make room for others by themselves. `files`: attached files. `conversations`: their texts, also in the trash. `shares`: shared copies.',
      bytes: 'The bytes of this kind.',
      count: 'How many there are. Null for `history`.',
    }),
  } satisfies FieldsOf<StorageUse>,
  Memory: {
    content: 'The text of `CONTEXT.md`: facts that all conversations of the user know.',
  } satisfies FieldsOf<z.infer<typeof MemoryContent>>,
  WriteMemory: {
    content: 'The new text of `CONTEXT.md`.',
    base: 'The text that was read and edited. Absent: the current text is replaced, whatever it is.',
  } satisfies FieldsOf<z.infer<typeof WriteMemoryBody>>,
}
