// A progress bar.

/** `part` is the completed share, from 0 to 1; `label` is the accessible name. */
export function ProgressBar({ label, part }: { label: string; part: number }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.round(part * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      className="h-2 overflow-hidden rounded-full bg-hover"
    >
      <div
        className="h-full rounded-full bg-accent transition-[width]"
        style={{ width: `${part * 100}%` }}
      />
    </div>
  )
}
