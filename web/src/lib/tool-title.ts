// Display names of tools.
import type { TFunction } from 'i18next'
import { titleOfTool } from '../../../server/protocol/tool-names/tool-title.ts'

/** The name of a tool in the page's language. */
export const toolTitle = (name: string, t: TFunction): string =>
  titleOfTool(name, (one) => {
    // Other names could contain the separators of keys.
    const named = /^\w+$/.test(one) ? t(`toolNames.${one}`, { defaultValue: '' }) : ''
    return named === '' ? undefined : named
  })
