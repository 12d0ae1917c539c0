// The skeleton of index.html as a component, shown until the sign-in mode is known.
/** The same layout as in index.html, so that nothing jumps. Decorative: screen readers skip it. */
export function ShellSkeleton() {
  return (
    <div className="boot" aria-hidden>
      <div className="boot-side" />
      <div className="boot-main">
        <div className="boot-box" />
      </div>
    </div>
  )
}
