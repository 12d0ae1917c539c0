// Declares the English texts as the type of all keys, so that the compiler checks every `t('…')`.
import type { Texts } from './english/pages.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: Texts }
    returnNull: false
  }
}
