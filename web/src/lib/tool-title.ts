// Display names of tools.
import type { TFunction } from 'i18next'
import { titleOfTool } from '../../../server/protocol/tool-names/tool-title.ts'

/** The name of a tool in the page's language. */
export const toolTitle = (name: string, t: TFunction): string =>
  titleOfTool(name, (named) => t(`toolNames.${named}`))
