// The heading of a message for screen readers, which jump from one to the next.

/** Without text, so that neither copying nor the search of the browser finds it. */
export function MessageHeading({ name }: { name: string }) {
  // biome-ignore lint/a11y/useSemanticElements: an element `h2` without text counts as empty
  return <span role="heading" aria-level={2} aria-label={name} className="absolute size-px" />
}
