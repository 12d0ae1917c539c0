// Loads the plugins that render formulas when a text first contains one.
import { lateValue } from '../states/late-value.ts'

/** The plugins for formulas; null until they have loaded, and while not needed. */
export const useMath = lateValue(() =>
  import('./math-plugins.ts').then((module) => module.mathPlugins),
)
