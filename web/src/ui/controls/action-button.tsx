// A small icon button next to a message. A page has many of them, so they use the browser's tooltip.
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps, ReactElement } from 'react'

const icons = new Map<LucideIcon, ReactElement>()

/** One shared element per icon, so that React skips it on re-renders and stores it only once. */
function iconElement(Icon: LucideIcon): ReactElement {
  const known = icons.get(Icon)
  if (known !== undefined) return known
  const element = <Icon size={15} aria-hidden />
  icons.set(Icon, element)
  return element
}

/** A button with an icon. `label` is its accessible name and its tooltip. */
export function ActionButton({
  icon,
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
      {iconElement(icon)}
    </button>
  )
}
