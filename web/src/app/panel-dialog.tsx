// A panel beside the chat, on a narrow screen: a dialog over the whole page.
import { X } from 'lucide-react'
import { Dialog as RadixDialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { IconButton } from '../ui/controls/button.tsx'
import { useCloseWithBack } from '../ui/overlays/close-with-back.ts'
import { useReturnedFocus } from '../ui/overlays/returned-focus.ts'
import { isInNotice } from '../ui/overlays/toasts.ts'

/** Open while it is rendered. `title` is its accessible name. */
export function PanelDialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const returnFocus = useReturnedFocus(true)
  useCloseWithBack(true, onClose)
  return (
    <RadixDialog.Root open onOpenChange={onClose}>
      <RadixDialog.Portal>
        <RadixDialog.Content
          aria-describedby={undefined}
          tabIndex={-1}
          // The panel itself: a field would open the on-screen keyboard.
          onOpenAutoFocus={(event) => {
            event.preventDefault()
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus()
          }}
          onCloseAutoFocus={returnFocus}
          onPointerDownOutside={(event) => {
            if (isInNotice(event.target)) event.preventDefault()
          }}
          className="fixed inset-0 z-30 flex flex-col bg-paper pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)] outline-none"
        >
          <header className="flex h-13 shrink-0 items-center gap-2 ps-5 pe-2">
            <RadixDialog.Title className="min-w-0 flex-1 truncate font-medium">
              {title}
            </RadixDialog.Title>
            <IconButton icon={X} label={t('common.close')} onClick={onClose} />
          </header>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  )
}
