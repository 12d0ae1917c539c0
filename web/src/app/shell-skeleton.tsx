// The frame that index.html draws before any script has come, drawn again until it is known who looks.
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
