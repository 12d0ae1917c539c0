// Loads the view of two answers side by side when it is first needed.
import { lazy } from 'react'
import { loadPageTexts } from '../../../lib/i18n/i18n.ts'

export const LateComparison = lazy(async () => {
  const [module] = await Promise.all([import('./comparison-view.tsx'), loadPageTexts()])
  return { default: module.ComparisonView }
})
