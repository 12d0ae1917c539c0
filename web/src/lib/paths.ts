// Every URL of the page, as one typed object.
export const paths = {
  home: '/',
  /** A new chat in a project. */
  homeIn: (projectId: string) => `/?project=${encodeURIComponent(projectId)}`,
  conversation: (id: string) => `/c/${id}`,
  /** A conversation, scrolled to one of its messages, with up to eight texts highlighted. */
  messageIn: (id: string, messageId: string, marks: readonly string[]) =>
    `/c/${id}?${new URLSearchParams([['m', messageId], ...marks.slice(0, 8).map((mark) => ['mark', mark])])}`,
  /** `messageIn` with one of the message's attachments open at a page. */
  fileIn: (
    id: string,
    messageId: string,
    { file, page, marks }: { file: string; page: number | undefined; marks: readonly string[] },
  ) =>
    `${paths.messageIn(id, messageId, marks)}&${new URLSearchParams({ file, ...(page === undefined ? {} : { page: String(page) }) })}`,
  /** A link to a message that can be copied and shared; opens the branch of the message. */
  messageLink: (id: string, messageId: string) => `/c/${id}#m-${encodeURIComponent(messageId)}`,
  projects: '/projects',
  /** The projects with the dialog for a new one. */
  newProject: '/projects?new',
  project: (id: string) => `/projects/${id}`,
  /** One of a project's files, opened at a line. */
  projectFile: (id: string, { path, line }: { path: string; line?: number }) =>
    `/projects/${id}?file=${encodeURIComponent(path)}${line === undefined ? '' : `&line=${line}`}`,
  /** One of a project's documents, opened at a passage with some texts highlighted. */
  projectDocument: (
    id: string,
    { id: document, passage, marks }: { id: string; passage: number; marks: readonly string[] },
  ) =>
    `/projects/${id}?${new URLSearchParams([['document', document], ['passage', String(passage)], ...marks.slice(0, 8).map((mark) => ['mark', mark])])}`,
  memory: '/memory',
  stats: '/stats',
  /** What waits for the user in all conversations. */
  waiting: '/waiting',
  /** What runs by itself. */
  schedules: '/schedules',
  /** The same, at one of them. */
  schedule: (id: string) => `/schedules?schedule=${encodeURIComponent(id)}`,
  settings: '/settings',
  settingsTab: (tab: (typeof SETTINGS_TABS)[number]) => `/settings/${tab}`,
  /** A tab of the settings, scrolled to one of its sections. */
  settingsSection: (tab: (typeof SETTINGS_TABS)[number], section: string) =>
    `/settings/${tab}?section=${section}`,
  /** The path of links with which a request is decided, before the token. */
  link: '/a/',
  login: '/login',
  /** The target of setup, invitation and reset links; the token is in the fragment. */
  join: '/join',
  setup: '/setup',
  /** The administration, on a narrow screen without `tab` its list of tabs. */
  admin: (tab?: (typeof ADMIN_TABS)[number]) => (tab === undefined ? '/admin' : `/admin/${tab}`),
} as const

/** The tabs of the settings, in the order in which they are shown; each has a path. */
export const SETTINGS_TABS = [
  'appearance',
  'agent',
  'models',
  'mcp',
  'channels',
  'permissions',
  'shares',
  'data',
  'account',
] as const

/** The tabs of the administration, in the order in which they are shown; each has a path. */
export const ADMIN_TABS = ['users', 'groups', 'invitations', 'usage', 'server', 'audit'] as const
