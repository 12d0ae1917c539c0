// Loads the comparison of two answers when it is first needed.
import { lazyView } from '../../../ui/states/late.tsx'

/** A lazy `ComparisonView`. */
export const LateComparison = lazyView(() =>
  import('./comparison-view.tsx').then((module) => module.ComparisonView),
)
