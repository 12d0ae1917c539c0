// What the skills that come with the server are for, in the reader's language: their own descriptions are written for models.
import type { TFunction } from 'i18next'

/** Their descriptions; another skill of the same name has another one. */
export const BUILT_IN_SKILLS = {
  'analyse-table':
    'Analyses a table (CSV, Excel, JSON) with Python, checks its quality, computes figures and draws plots. Use it for questions about data in files or attachments.',
  'make-app':
    'Makes a small app that runs beside the conversation, such as a calculator, chart, game, form, quiz or drawing, as one HTML file or React component. Use it when the user wants to see or try something instead of reading about it.',
  'plan-trip':
    'Plans a trip day by day with travel times, opening hours, costs and alternatives, from current sources. Use it for journeys, excursions and visits to a place.',
  research:
    'Researches a question in several sources, compares what they say, and writes a report whose claims are backed by checked quotes.',
  'review-text':
    'Reviews a text of the user for errors, clarity, structure and unsupported claims, and proposes concrete changes without rewriting it. Use it for proofreading, editing and feedback.',
  'write-document':
    'Writes a longer text such as a report, letter, article, manual or speech, from the outline to a checked final version in a file. Use it for texts of more than a page.',
} as const

const isBuiltIn = (name: string): name is keyof typeof BUILT_IN_SKILLS =>
  Object.hasOwn(BUILT_IN_SKILLS, name)

/** The description of a skill for people. */
export const skillDescription = (
  { name, description }: { name: string; description: string },
  t: TFunction,
): string =>
  isBuiltIn(name) && BUILT_IN_SKILLS[name] === description
    ? t(`skills.builtIn.${name}`)
    : description
