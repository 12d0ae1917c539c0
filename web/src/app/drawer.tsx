// The sidebar on a phone: a drawer over the page. A swipe from the edge opens it, a swipe back closes it.
import { Dialog as RadixDialog } from 'radix-ui'
import { type ReactNode, useCallback, useEffect } from 'react'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { useCloseWithBack } from '../ui/overlays/close-with-back.ts'
import { watchSwipes } from './swipes.ts'
import { focusSidebarButton } from './use-lost-focus.ts'

/** `children` is the sidebar. Swipes call `onOpenChange` too. */
export function Drawer({
  open,
  onOpenChange,
  children,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  useCloseWithBack(open, () => onOpenChange(false))
  useEffect(() => {
    const main = document.getElementById('main')
    if (open || main === null) return undefined
    return watchSwipes(main, { to: 'end', fromEdge: true, onSwipe: () => onOpenChange(true) })
  }, [open, onOpenChange])
  const closesOnSwipe = useCallback(
    (element: HTMLElement | null) =>
      element === null
        ? undefined
        : watchSwipes(element, {
            to: 'start',
            fromEdge: false,
            onSwipe: () => onOpenChange(false),
          }),
    [onOpenChange],
  )
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay
          ref={closesOnSwipe}
          className="fixed inset-0 z-40 animate-appear bg-[oklch(0.15_0.01_75/0.4)]"
        />
        <RadixDialog.Content
          ref={closesOnSwipe}
          aria-describedby={undefined}
          // Focus the drawer itself, because focus on its first button would show that button's tip.
          tabIndex={-1}
          onOpenAutoFocus={(event) => {
            event.preventDefault()
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus()
          }}
          // It has no trigger of its own, and the view with the button may have changed.
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            focusSidebarButton()
          }}
          className="outline-none fixed inset-y-0 start-0 z-50 box-content w-[min(20rem,86vw)] bg-sunken pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)] shadow-float ltr:pl-[env(safe-area-inset-left)] rtl:pr-[env(safe-area-inset-right)]"
        >
          <RadixDialog.Title className="sr-only">{t('shell.main')}</RadixDialog.Title>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  )
}
