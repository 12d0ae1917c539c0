// Declares the English texts as the type of all keys and their parameters, so that the compiler checks every `t('…')`.
import type { PageTexts } from '../../../../locales/english.d.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: PageTexts }
    returnNull: false
    strictInterpolationChecks: true
  }
}
