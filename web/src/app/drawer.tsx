// The sidebar on a phone: a drawer over the page.
import { Dialog as RadixDialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

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
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 animate-appear bg-[oklch(0.15_0.01_75/0.4)]" />
        <RadixDialog.Content
          aria-describedby={undefined}
          // Focus the drawer itself: focusing its first button would show that button's tip.
          tabIndex={-1}
          onOpenAutoFocus={(event) => {
            event.preventDefault()
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus()
          }}
          className="outline-none fixed inset-y-0 left-0 z-50 w-[min(20rem,86vw)] bg-sunken shadow-float"
        >
          <RadixDialog.Title className="sr-only">{t('shell.main')}</RadixDialog.Title>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  )
}
