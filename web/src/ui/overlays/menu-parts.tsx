// Drop-down menus and their items. Used through menu.tsx, which loads this file lazily.
import { Check, type LucideIcon } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type ReactElement, type ReactNode, useRef, useState } from 'react'
import { shownDirection } from '../../lib/i18n/direction.ts'
import { classNames } from '../class-names.ts'
import { useCloseWithBack } from './close-with-back.ts'

const itemClass =
  'flex min-h-8 pointer-coarse:min-h-11 select-none items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm outline-none data-[highlighted]:bg-hover data-[disabled]:opacity-45'

/** `trigger` is the button that opens the menu; `label` names the menu for screen readers. */
export type MenuProps = {
  trigger: ReactElement
  align?: 'start' | 'center' | 'end'
  side?: 'top' | 'bottom'
  label?: string
  children: ReactNode
}

/**
 * The menu with its button. It starts open, because it is rendered when somebody opens it. If a key opened it
 * (`isByKeyboard`), the first item gets the focus.
 */
export function Menu({
  trigger,
  align = 'start',
  side = 'bottom',
  label,
  isByKeyboard,
  children,
}: MenuProps & { isByKeyboard: boolean }) {
  // From the second opening on, the library handles the keys.
  const isFirst = useRef(true)
  const [open, setOpen] = useState(true)
  useCloseWithBack(open, () => setOpen(false))
  return (
    <DropdownMenu.Root dir={shownDirection()} modal={false} open={open} onOpenChange={setOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          side={side}
          sideOffset={6}
          collisionPadding={10}
          aria-label={label}
          onFocus={({ target, currentTarget }) => {
            if (target !== currentTarget || !isFirst.current) return
            isFirst.current = false
            if (!isByKeyboard) return
            currentTarget
              .querySelector<HTMLElement>('[role^="menuitem"]:not([data-disabled])')
              ?.focus()
          }}
          className="z-50 max-h-[min(30rem,var(--radix-dropdown-menu-content-available-height))] pointer-coarse:max-h-(--radix-dropdown-menu-content-available-height) min-w-48 max-w-[min(22rem,92vw)] animate-appear overflow-y-auto scroll-shadows rounded-xl border border-line p-1 shadow-float"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** An action; choosing it closes the menu. `danger` marks actions that remove something. */
export function MenuItem({
  icon: Icon,
  danger = false,
  disabled = false,
  onSelect,
  children,
}: {
  icon?: LucideIcon
  danger?: boolean
  disabled?: boolean
  onSelect: () => void
  children: ReactNode
}) {
  return (
    <DropdownMenu.Item
      className={classNames(itemClass, danger && 'text-bad')}
      disabled={disabled}
      onSelect={onSelect}
    >
      {Icon !== undefined && <Icon size={15} aria-hidden className={danger ? '' : 'text-muted'} />}
      <span className="min-w-0 flex-1">{children}</span>
    </DropdownMenu.Item>
  )
}

/** An on/off option; the menu stays open so that several can be changed. */
export function MenuSwitch({
  icon: Icon,
  on,
  onChange,
  children,
}: {
  icon: LucideIcon
  on: boolean
  onChange: (on: boolean) => void
  children: ReactNode
}) {
  return (
    <DropdownMenu.CheckboxItem
      className={itemClass}
      checked={on}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
    >
      <Icon size={15} aria-hidden className="text-muted" />
      <span className="min-w-0 flex-1">{children}</span>
      <span
        aria-hidden
        className={classNames(
          'flex h-4.5 w-8 items-center rounded-full p-0.5 transition-colors',
          on ? 'justify-end bg-accent' : 'bg-line-strong',
        )}
      >
        <span className="size-3.5 rounded-full bg-surface" />
      </span>
    </DropdownMenu.CheckboxItem>
  )
}

/** The title of a group of items. */
export function MenuHeading({ children }: { children: ReactNode }) {
  return (
    <DropdownMenu.Label className="px-2.5 pt-2 pb-1 text-xs font-medium text-muted">
      {children}
    </DropdownMenu.Label>
  )
}

/** A line between groups of items. */
export function MenuSeparator() {
  return <DropdownMenu.Separator className="mx-2 my-1 h-px bg-line" />
}

/** An option of `MenuChoices`; `hint` is a second line. */
export type Choice = { value: string; label: ReactNode; hint?: string | undefined }

/** A single choice among options; a tick marks the selected one. */
export function MenuChoices({
  value,
  choices,
  onChoose,
}: {
  value: string
  choices: readonly Choice[]
  onChoose: (value: string) => void
}) {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={onChoose}>
      {choices.map((choice) => (
        <DropdownMenu.RadioItem key={choice.value} value={choice.value} className={itemClass}>
          <span className="min-w-0 flex-1">
            <span className="block truncate">{choice.label}</span>
            {choice.hint !== undefined && (
              <span className="block text-xs text-muted">{choice.hint}</span>
            )}
          </span>
          <DropdownMenu.ItemIndicator>
            <Check size={15} className="text-accent" aria-hidden />
          </DropdownMenu.ItemIndicator>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  )
}
