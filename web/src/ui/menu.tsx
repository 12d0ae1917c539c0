// Menus that drop from a button: actions, and one choice among several. What draws them comes with the first one opened.
import {
  type ButtonHTMLAttributes,
  type ComponentProps,
  cloneElement,
  isValidElement,
  lazy,
  type ReactElement,
  Suspense,
  useState,
} from 'react'
import { firstScreen } from '../lib/first-screen.tsx'
import type * as Parts from './menu-parts.tsx'

let parts: typeof Parts | null = null
const load = async (): Promise<typeof Parts> => {
  parts = await import('./menu-parts.tsx')
  return parts
}
// A line that breaks here is met again, and told, when a menu is opened.
void firstScreen.then(load).catch(() => undefined)
const LateMenu = lazy(async () => ({ default: (await load()).Menu }))

/** Until it is first opened a menu is its button alone. */
export function Menu(props: Omit<Parts.MenuProps, 'trigger'> & { trigger: ReactElement }) {
  const [wanted, setWanted] = useState(false)
  const closed = isValidElement<ButtonHTMLAttributes<HTMLButtonElement>>(props.trigger)
    ? cloneElement(props.trigger, {
        'aria-haspopup': 'menu',
        'aria-expanded': false,
        onClick: () => setWanted(true),
        onKeyDown: (event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setWanted(true)
        },
      })
    : props.trigger
  if (!wanted) return closed
  return (
    <Suspense fallback={closed}>
      <LateMenu {...props} />
    </Suspense>
  )
}

/** Its content is drawn by the parts that have come with the menu around it. */
const drawn = (): typeof Parts => {
  if (parts === null) throw new Error('a menu item stands outside a menu')
  return parts
}

export function MenuItem(props: ComponentProps<typeof Parts.MenuItem>) {
  const Part = drawn().MenuItem
  return <Part {...props} />
}

export function MenuHeading(props: ComponentProps<typeof Parts.MenuHeading>) {
  const Part = drawn().MenuHeading
  return <Part {...props} />
}

export function MenuSeparator() {
  const Part = drawn().MenuSeparator
  return <Part />
}

export function MenuChoices(props: ComponentProps<typeof Parts.MenuChoices>) {
  const Part = drawn().MenuChoices
  return <Part {...props} />
}
