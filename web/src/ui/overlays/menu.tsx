// Drop-down menus: actions, and a choice among several. The code that draws them loads with the first one opened.
import {
  type ButtonHTMLAttributes,
  type ComponentProps,
  cloneElement,
  isValidElement,
  type ReactElement,
  useState,
} from 'react'
import { late } from '../states/late.tsx'
import { PartBoundary } from '../states/part-boundary.tsx'
import type * as Parts from './menu-parts.tsx'

let parts: typeof Parts | null = null
const load = async (): Promise<typeof Parts> => {
  parts = await import('./menu-parts.tsx')
  return parts
}
const LateMenu = late(async () => (await load()).Menu)

/** Until it is first opened, a menu is only its button. */
export function Menu(props: Omit<Parts.MenuProps, 'trigger'> & { trigger: ReactElement }) {
  const [wanted, setWanted] = useState<'keyboard' | 'pointer' | null>(null)
  const closed = isValidElement<ButtonHTMLAttributes<HTMLButtonElement>>(props.trigger)
    ? cloneElement(props.trigger, {
        'aria-haspopup': 'menu',
        'aria-expanded': false,
        // A click without a pointer comes from a key.
        onClick: ({ detail }) => setWanted(detail === 0 ? 'keyboard' : 'pointer'),
        onKeyDown: (event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setWanted('keyboard')
        },
      })
    : props.trigger
  if (wanted === null) return closed
  return (
    <PartBoundary fallback={closed} isOver onClose={() => setWanted(null)}>
      <LateMenu {...props} isByKeyboard={wanted === 'keyboard'} />
    </PartBoundary>
  )
}

/** Drawn by the menu around it, whose code is loaded by then. */
const drawn = (): typeof Parts => {
  if (parts === null) throw new Error('a menu item stands outside a menu')
  return parts
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuItem(props: ComponentProps<typeof Parts.MenuItem>) {
  const Part = drawn().MenuItem
  return <Part {...props} />
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuSwitch(props: ComponentProps<typeof Parts.MenuSwitch>) {
  const Part = drawn().MenuSwitch
  return <Part {...props} />
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuHeading(props: ComponentProps<typeof Parts.MenuHeading>) {
  const Part = drawn().MenuHeading
  return <Part {...props} />
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuSeparator() {
  const Part = drawn().MenuSeparator
  return <Part />
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuChoices(props: ComponentProps<typeof Parts.MenuChoices>) {
  const Part = drawn().MenuChoices
  return <Part {...props} />
}
