// The value of the newest render, for callbacks that outlive the render in which they were created.
import { type RefObject, useInsertionEffect, useRef } from 'react'

/**
 * Returns a ref to the value of the newest render that is shown. It is assigned before the layout effects of all components,
 * and not while rendering: React may discard a render.
 */
export function useNewest<Value>(value: Value): RefObject<Value> {
  const newest = useRef(value)
  useInsertionEffect(() => {
    newest.current = value
  })
  return newest
}
