// A small button beside a message. There are many of them, so they use the browser's own tooltip.
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'

export function ActionButton({
  icon: Icon,
  label,
  ...rest
}: Omit<ComponentProps<'button'>, 'children'> & { icon: LucideIcon; label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className="inline-flex size-7 shrink-0 items-center justify-center rounded-lg text-muted transition-colors duration-100 hover:bg-hover hover:text-ink aria-pressed:text-accent disabled:opacity-40"
      {...rest}
    >
      <Icon size={15} aria-hidden />
    </button>
  )
}
