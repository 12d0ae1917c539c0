// Which files can run as apps, by their names.

/** How a file runs. `component`: a React component, compiled by the server; `diagram`: Mermaid; `document`: Markdown. */
export const APP_KINDS = ['html', 'svg', 'component', 'diagram', 'document'] as const
/** One of them. */
export type AppKind = (typeof APP_KINDS)[number]

const KINDS: readonly (readonly [RegExp, AppKind])[] = [
  [/\.html?$/i, 'html'],
  [/\.svg$/i, 'svg'],
  [/\.[jt]sx$/i, 'component'],
  [/\.mmd$/i, 'diagram'],
  [/\.(?:md|markdown)$/i, 'document'],
]

/** The kind of app that a file is; null for other files. */
export const appKindOf = (path: string): AppKind | null =>
  KINDS.find(([names]) => names.test(path))?.[1] ?? null
