// Loads the plugins that render formulas when a text first contains one.
import { useEffect, useState } from 'react'

type MathPlugins = typeof import('./math-plugins.ts').mathPlugins
let loadedMath: MathPlugins | null = null

/** The plugins for formulas; null until they have loaded, and while `needed` is false. */
export function useMath(needed: boolean): MathPlugins | null {
  const [plugins, setPlugins] = useState(loadedMath)
  useEffect(() => {
    if (!needed || plugins !== null) return
    let isUnmounted = false
    void import('./math-plugins.ts').then((module) => {
      loadedMath = module.mathPlugins
      if (!isUnmounted) setPlugins(loadedMath)
    })
    return () => {
      isUnmounted = true
    }
  }, [needed, plugins])
  return needed ? plugins : null
}
