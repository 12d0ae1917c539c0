// Buttons with a text, and icon buttons with an accessible name.
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { classNames } from '../class-names.ts'
import { Tip } from '../overlays/tip.tsx'
import { useFocusableWhenDisabled } from './use-focusable-when-disabled.ts'

type Tone = 'plain' | 'primary' | 'quiet' | 'danger'

const TONES: Record<Tone, string> = {
  plain: 'bg-surface border border-line-strong text-ink hover:bg-hover shadow-low',
  primary: 'bg-accent border border-transparent text-on-accent hover:brightness-110 shadow-low',
  quiet: 'border border-transparent text-soft hover:bg-hover hover:text-ink',
  danger:
    'bg-bad-soft border border-transparent text-bad hover:brightness-95 dark:hover:brightness-125',
}

const SIZES = {
  small: 'h-8 px-2.5 text-note rounded-lg gap-1.5',
  normal: 'h-9 px-3.5 text-sm rounded-[10px] gap-2',
}

/** The properties of a `button`, plus `tone` (how prominent it is), `size` and an `icon` before the text. */
export type ButtonProps = ComponentProps<'button'> & {
  tone?: Tone
  size?: keyof typeof SIZES
  icon?: LucideIcon
}

const baseClass =
  'inline-flex shrink-0 items-center justify-center font-medium whitespace-nowrap transition-[background-color,filter,color] duration-100 disabled:opacity-45 aria-disabled:opacity-45'

/** The classes of a navigation link that looks like a button. */
export const linkButtonClass = classNames(baseClass, TONES.plain, SIZES.normal, 'touch-target')

/**
 * A button with a text. `type` defaults to `button`, so that it does not submit a form by accident. It keeps the focus
 * when it is disabled.
 */
export function Button({
  tone = 'plain',
  size = 'normal',
  icon: Icon,
  className,
  children,
  ...rest
}: ButtonProps) {
  const focusable = useFocusableWhenDisabled(rest)
  return (
    <button
      type="button"
      className={classNames(baseClass, TONES[tone], SIZES[size], className)}
      {...rest}
      {...focusable}
    >
      {Icon !== undefined && <Icon size={size === 'small' ? 14 : 16} aria-hidden />}
      {children}
    </button>
  )
}

/** The properties of a `button`, with an icon instead of a text. */
export type IconButtonProps = Omit<ComponentProps<'button'>, 'children'> & {
  icon: LucideIcon
  /** The accessible name, also shown as a tip. */
  label: string
  /** What the tip shows instead of the name, and screen readers after it. */
  hint?: string
  size?: 'small' | 'normal'
  /** For toggles: whether it is on, which is announced and shown in the accent colour. */
  pressed?: boolean
  /** The keyboard shortcut, such as "Ctrl+K", shown in the tip. */
  keys?: string
  tipSide?: 'top' | 'bottom' | 'left' | 'right'
  /** A short name, which stands beside the icon where the surrounding `@container` has room for it. */
  words?: string
  /** Whether `words` need little room, so that they are there in a narrow column, too. */
  isBrief?: boolean
}

/** A button with only an icon, and a tip that shows its name. It keeps the focus when it is disabled. */
export function IconButton({
  icon: Icon,
  label,
  hint,
  size = 'normal',
  pressed,
  keys,
  tipSide,
  words,
  isBrief = false,
  className,
  ...rest
}: IconButtonProps) {
  const focusable = useFocusableWhenDisabled(rest)
  return (
    <Tip
      text={hint ?? (keys === undefined ? label : `${label} (${keys})`)}
      {...(tipSide === undefined ? {} : { side: tipSide })}
    >
      <button
        type="button"
        aria-label={label}
        aria-description={hint}
        aria-pressed={pressed}
        className={classNames(
          'inline-flex shrink-0 items-center justify-center rounded-lg transition-colors duration-100 hover:bg-hover hover:text-ink disabled:opacity-40 aria-disabled:opacity-40 data-[state=open]:bg-hover',
          size === 'small' ? 'size-7' : 'size-9',
          words !== undefined && 'gap-1.5 text-note',
          words !== undefined && (isBrief ? '@3xs:w-auto @3xs:px-2' : '@md:w-auto @md:px-2'),
          pressed === true ? 'bg-accent-soft text-accent hover:text-accent' : 'text-muted',
          className,
        )}
        {...rest}
        {...focusable}
      >
        <Icon size={size === 'small' ? 15 : 18} aria-hidden className="shrink-0" />
        {words !== undefined && (
          <span
            className={classNames(
              'hidden whitespace-nowrap',
              isBrief ? '@3xs:inline' : '@md:inline',
            )}
          >
            {words}
          </span>
        )}
      </button>
    </Tip>
  )
}
