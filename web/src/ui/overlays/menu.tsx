// Lazy wrappers of the drop-down menus. Their code loads after the first screen, or with the first menu that opens.
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

/** A menu; only its button is rendered until it is first opened. */
export function Menu(props: Omit<Parts.MenuProps, 'trigger'> & { trigger: ReactElement }) {
  const [openedBy, setOpenedBy] = useState<'keyboard' | 'pointer' | null>(null)
  const closed = isValidElement<ButtonHTMLAttributes<HTMLButtonElement>>(props.trigger)
    ? cloneElement(props.trigger, {
        'aria-haspopup': 'menu',
        'aria-expanded': false,
        // A key press fires a click whose `detail` is 0.
        onClick: ({ detail }) => setOpenedBy(detail === 0 ? 'keyboard' : 'pointer'),
        onKeyDown: (event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setOpenedBy('keyboard')
        },
      })
    : props.trigger
  if (openedBy === null) return closed
  return (
    <PartBoundary fallback={closed} isOver onClose={() => setOpenedBy(null)}>
      <LateMenu {...props} isByKeyboard={openedBy === 'keyboard'} />
    </PartBoundary>
  )
}

/** The loaded code: items are rendered only inside an open menu, which has loaded it. */
const loaded = (): typeof Parts => {
  if (parts === null) throw new Error('a menu item is outside a menu')
  return parts
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuItem(props: ComponentProps<typeof Parts.MenuItem>) {
  const Part = loaded().MenuItem
  return <Part {...props} />
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuSwitch(props: ComponentProps<typeof Parts.MenuSwitch>) {
  const Part = loaded().MenuSwitch
  return <Part {...props} />
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuHeading(props: ComponentProps<typeof Parts.MenuHeading>) {
  const Part = loaded().MenuHeading
  return <Part {...props} />
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuSeparator() {
  const Part = loaded().MenuSeparator
  return <Part />
}

/** As in `menu-parts.tsx`; only for use within `Menu`. */
export function MenuChoices(props: ComponentProps<typeof Parts.MenuChoices>) {
  const Part = loaded().MenuChoices
  return <Part {...props} />
}
