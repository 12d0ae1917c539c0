// What the page asks for each kind of channel, and the settings that the server expects of the answers.

/** The kinds of channels, in the order in which they are offered. */
export const CHANNEL_KINDS = ['telegram', 'slack', 'email', 'bridge', 'webhook'] as const
/** A kind of channel that the page can make. */
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** The kind of a channel; undefined for one that only a later version of the server knows. */
export const kindOf = (type: string): ChannelKind | undefined =>
  CHANNEL_KINDS.find((kind) => kind === type)

/** A field of the form. */
export type FieldName =
  | 'url'
  | 'secret'
  | 'bridge_url'
  | 'bridge_secret'
  | 'to'
  | 'bot_token'
  | 'chat_id'
  | 'slack_app_token'
  | 'slack_bot_token'
  | 'address'
  | 'imap_host'
  | 'imap_port'
  | 'imap_tls'
  | 'imap_user'
  | 'imap_password'
  | 'imap_folder'
  | 'authserv_id'
/** What was entered. */
export type FieldValues = Readonly<Partial<Record<FieldName, string>>>

/** How the connection to a mailbox is encrypted. */
export const MAIL_ENCRYPTIONS = ['implicit', 'starttls', 'none'] as const

/** Whether people can write through a channel of this kind: always, never, or as the person chooses, with what is proposed. */
export const RECEIVES: Readonly<Record<ChannelKind, 'always' | 'never' | { byDefault: boolean }>> =
  {
    telegram: { byDefault: true },
    slack: 'always',
    email: { byDefault: false },
    bridge: 'always',
    webhook: 'never',
  }

/** The fields of a kind, in their order, and which may stay empty. */
export function fieldsOf(
  kind: ChannelKind,
  receives: boolean,
): { name: FieldName; isOptional: boolean }[] {
  const needed = (...names: FieldName[]) => names.map((name) => ({ name, isOptional: false }))
  const optional = (...names: FieldName[]) => names.map((name) => ({ name, isOptional: true }))
  switch (kind) {
    case 'telegram':
      return [...needed('bot_token'), ...(receives ? optional('chat_id') : needed('chat_id'))]
    case 'slack':
      return needed('slack_app_token', 'slack_bot_token')
    case 'email':
      return receives
        ? [
            ...needed(
              'address',
              'imap_host',
              'imap_port',
              'imap_tls',
              'imap_user',
              'imap_password',
            ),
            ...optional('imap_folder', 'authserv_id', 'to'),
          ]
        : needed('to')
    case 'bridge':
      return [...needed('bridge_url'), ...optional('bridge_secret')]
    case 'webhook':
      return [...needed('url'), ...optional('secret')]
  }
}

/** With what the fields of a new channel begin. */
export const INITIAL_VALUES: FieldValues = { imap_port: '993', imap_tls: 'implicit' }

/** Fields of which the page knows no value, or only a part: left empty, they stay as they are. */
const KEPT: ReadonlySet<FieldName> = new Set([
  'url',
  'secret',
  'bridge_url',
  'bridge_secret',
  'bot_token',
  'slack_app_token',
  'slack_bot_token',
  'imap_host',
  'imap_port',
  'imap_tls',
  'imap_user',
  'imap_password',
  'imap_folder',
])

/** Whether a channel that exists keeps the value of a field that is left empty. */
export const isKept = (field: FieldName, settings: Readonly<Record<string, unknown>>): boolean =>
  KEPT.has(field) && (!field.startsWith('imap_') || settings.imap !== undefined)

/** What the fields of a channel that exists begin with: the settings that the server shows whole. */
export function shownValues(settings: Readonly<Record<string, unknown>>): FieldValues {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  return {
    chat_id: text(settings.chat_id),
    to: text(settings.to),
    address: text(settings.address),
    authserv_id: text(settings.authserv_id),
    // A mailbox that is entered for the first time.
    ...(settings.imap === undefined ? INITIAL_VALUES : {}),
  }
}

/** The settings as the server expects them, without what is empty. */
export function settingsOf(
  kind: ChannelKind,
  receives: boolean,
  values: FieldValues,
): Record<string, unknown> {
  const shown = new Set(fieldsOf(kind, receives).map(({ name }) => name))
  const given = (name: FieldName): string | undefined => {
    const text = shown.has(name) ? (values[name] ?? '').trim() : ''
    return text === '' ? undefined : text
  }
  const port = given('imap_port')
  const mailbox = present({
    host: given('imap_host'),
    port: port === undefined ? undefined : Number(port),
    tls: given('imap_tls'),
    user: given('imap_user'),
    // A password may begin or end with a space.
    password: given('imap_password') === undefined ? undefined : values.imap_password,
    folder: given('imap_folder'),
  })
  return present({
    url: given('url') ?? given('bridge_url'),
    secret: given('secret') ?? given('bridge_secret'),
    app_token: given('slack_app_token'),
    bot_token: given('bot_token') ?? given('slack_bot_token'),
    chat_id: given('chat_id'),
    to: several(given('to')),
    address: given('address'),
    authserv_id: given('authserv_id'),
    imap: Object.keys(mailbox).length === 0 ? undefined : mailbox,
  })
}

/** Several addresses are a list. */
const several = (text: string | undefined): string | string[] | undefined =>
  text?.includes(',') === true ? text.split(/\s*,\s*/).filter((one) => one !== '') : text

const present = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** An app of Slack with everything that a channel needs, for Slack's page that makes apps. */
const SLACK_MANIFEST = {
  display_information: { name: 'NanoClaw' },
  features: {
    bot_user: { display_name: 'NanoClaw', always_online: true },
    app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    slash_commands: [
      { command: '/nanoclaw', description: 'new, stop, status, project, model, undo, help' },
    ],
  },
  oauth_config: {
    scopes: {
      bot: [
        'app_mentions:read',
        'channels:history',
        'channels:read',
        'chat:write',
        'commands',
        'files:read',
        'files:write',
        'groups:history',
        'groups:read',
        'im:history',
        'im:write',
        'mpim:history',
        'users:read',
      ],
    },
  },
  settings: {
    event_subscriptions: {
      bot_events: [
        'app_mention',
        'message.channels',
        'message.groups',
        'message.im',
        'message.mpim',
      ],
    },
    interactivity: { is_enabled: true },
    socket_mode_enabled: true,
  },
}

/** The page of the service on which the bot is made; undefined where there is none. */
export const SERVICE_PAGES: Readonly<Partial<Record<ChannelKind, string>>> = {
  telegram: 'https://t.me/BotFather',
  slack: `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(SLACK_MANIFEST))}`,
}
