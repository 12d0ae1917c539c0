// Values from lazy code in components that render without them meanwhile.
import { useEffect, useState } from 'react'
import { loadPart } from '../../lib/browser/load-part.ts'

/**
 * Creates a hook that returns a value from lazy code: null until it has loaded, and while `needed` is false. Loading begins when
 * a component first needs the value. If it fails, the next component that needs the value tries again.
 */
export function lateValue<Value>(load: () => Promise<Value>): (needed: boolean) => Value | null {
  let loaded: { value: Value } | null = null
  return function useLateValue(needed) {
    const [known, setKnown] = useState(loaded)
    useEffect(() => {
      if (!needed || known !== null) return
      let isUnmounted = false
      loadPart(load).then(
        (value) => {
          loaded ??= { value }
          if (!isUnmounted) setKnown(loaded)
        },
        () => undefined, // the component goes on without the value
      )
      return () => {
        isUnmounted = true
      }
    }, [needed, known])
    return needed && known !== null ? known.value : null
  }
}
