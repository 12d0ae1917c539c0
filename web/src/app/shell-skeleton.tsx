// The layout that index.html draws before any script has loaded, drawn again until the sign-in mode is known.
/** Decorative; screen readers skip it. */
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
