// Loads the plugins that draw formulas when a text first has one.
import { useEffect, useState } from 'react'

type MathPlugins = typeof import('./math-plugins.ts').mathPlugins
let loadedMath: MathPlugins | null = null

/** The plugins for formulas, loaded when a text first needs them; null until then. */
export function useMath(needed: boolean): MathPlugins | null {
  const [plugins, setPlugins] = useState(loadedMath)
  useEffect(() => {
    if (!needed || plugins !== null) return
    let gone = false
    void import('./math-plugins.ts').then((module) => {
      loadedMath = module.mathPlugins
      if (!gone) setPlugins(loadedMath)
    })
    return () => {
      gone = true
    }
  }, [needed, plugins])
  return needed ? plugins : null
}
