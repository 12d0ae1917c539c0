// What scrolls. The keyboard must be able to reach it, so that people without a mouse can scroll it.
import type { ComponentProps, ElementType } from 'react'

type Scrolling = 'div' | 'pre' | 'section'

// Of a type that leaves the properties to the signature below.
const elementOf = (tag: Scrolling = 'div'): ElementType => tag

/** An element (`as`, by default a `div`) whose content may be larger than it is. Its size is up to `className`. */
export function ScrollRegion<Tag extends Scrolling = 'div'>({
  as,
  ...props
}: { as?: Tag } & ComponentProps<Tag>) {
  const Element = elementOf(as)
  return <Element tabIndex={0} {...props} />
}
