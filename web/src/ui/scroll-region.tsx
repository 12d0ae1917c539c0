// A scrollable element that the keyboard can reach, so that people without a mouse can scroll it.
import type { ComponentProps, ElementType } from 'react'

type Scrolling = 'div' | 'pre' | 'section'

// Returns the wide type `ElementType`, because the signature of `ScrollRegion` checks the properties.
const elementOf = (tag: Scrolling = 'div'): ElementType => tag

/** An element (`as`, by default a `div`) with content that may overflow. `className` sets its size. */
export function ScrollRegion<Tag extends Scrolling = 'div'>({
  as,
  ...props
}: { as?: Tag } & ComponentProps<Tag>) {
  const Element = elementOf(as)
  return <Element tabIndex={0} {...props} />
}
