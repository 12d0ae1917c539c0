// Loads the texts of a language: those of the first screen, of all later views, of refusals and of the doctor's findings.
import type { Language } from '../../../../locales/languages.ts'
import type { FindingCode } from '../../../../server/protocol/admin/finding-code.ts'

type Texts = Readonly<Record<string, unknown>>

/** The texts of refusals and failures in one language. */
export type Refusals = {
  /** By reason; a kind of error without a more specific reason quotes the server's text as `message`. */
  readonly reasons: Readonly<Record<string, string>>
  /** What follows a text if its parameters include this name. */
  readonly additions: Readonly<Record<string, string>>
}

/** The texts of the doctor's findings in one language. */
export type Findings = {
  /** `subject` where it is not a name; `advice` where there is any. */
  readonly findings: Readonly<
    Record<FindingCode, { subject?: string; detail: string; advice?: string }>
  >
  /** The names of folders, by the server's names. */
  readonly folders: Readonly<Record<string, string>>
}

// The build replaces these calls by the files that they name. The English first screen is part of the page, as the fallback
// for texts that could not be loaded; English refusals and findings come from the server.
const firstScreens = import.meta.glob<Texts>(
  ['../../../../locales/*/first-screen.json', '!../../../../locales/en/*'],
  { import: 'default' },
)
const laterAreas = import.meta.glob<Texts>(
  [
    '../../../../locales/*/*.json',
    '!../../../../locales/*/{demo,documents,findings,first-screen,messages,refusals,start}.json',
  ],
  { import: 'default' },
)
const refusals = import.meta.glob<Refusals>(
  ['../../../../locales/*/refusals.json', '!../../../../locales/en/*'],
  { import: 'default' },
)
const findings = import.meta.glob<Findings>(
  ['../../../../locales/*/findings.json', '!../../../../locales/en/*'],
  { import: 'default' },
)

const pathOf = (language: Language, area = ''): string => `../../../../locales/${language}/${area}`

/** The texts of the first screen; none for English. */
export const loadFirstScreen = async (language: Language): Promise<Texts> =>
  (await firstScreens[pathOf(language, 'first-screen.json')]?.()) ?? {}

/** The texts of all views after the first screen, which are one file of the build. */
export async function loadLaterViews(language: Language): Promise<Texts> {
  const areas = Object.entries(laterAreas).filter(([path]) => path.startsWith(pathOf(language)))
  return Object.assign({}, ...(await Promise.all(areas.map(([, load]) => load()))))
}

/** The texts of refusals; undefined for English, in which the server writes them. */
export const loadRefusalTexts = async (language: Language): Promise<Refusals | undefined> =>
  refusals[pathOf(language, 'refusals.json')]?.()

/** The texts of the doctor's findings; undefined for English, in which the server writes them. */
export const loadFindingTexts = async (language: Language): Promise<Findings | undefined> =>
  findings[pathOf(language, 'findings.json')]?.()
