// Makes every `t('…')` a checked key of the English texts.
import type { Texts } from './english/pages.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: Texts }
    returnNull: false
  }
}
