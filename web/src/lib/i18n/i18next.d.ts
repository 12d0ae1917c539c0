// Makes every `t('…')` a checked key of the English texts.
import type { english } from './english.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof english }
    returnNull: false
  }
}
