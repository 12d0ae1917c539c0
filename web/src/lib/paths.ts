// Every URL of the page, as one typed object.
export const paths = {
  home: '/',
  /** A new chat in a project. */
  homeIn: (projectId: string) => `/?project=${encodeURIComponent(projectId)}`,
  conversation: (id: string) => `/c/${id}`,
  projects: '/projects',
  project: (id: string) => `/projects/${id}`,
  /** One of a project's files, opened at a line. */
  projectFile: (id: string, { path, line }: { path: string; line?: number }) =>
    `/projects/${id}?file=${encodeURIComponent(path)}${line === undefined ? '' : `&line=${line}`}`,
  memory: '/memory',
  stats: '/stats',
  settings: '/settings',
  settingsTab: (tab: string) => `/settings/${tab}`,
  login: '/login',
  setup: '/setup',
} as const
