// Dialogs and confirmation dialogs. Used through dialog.tsx, which loads this file lazily.
import { X } from 'lucide-react'
import { AlertDialog, Dialog as RadixDialog } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../class-names.ts'
import { Button } from '../controls/button.tsx'
import { useCloseWithBack } from './close-with-back.ts'
import { useReturnedFocus } from './returned-focus.ts'
import { isInNotice } from './toasts.ts'

const overlayClass =
  'fixed inset-0 z-40 animate-appear bg-[oklch(0.15_0.01_75/0.4)] backdrop-blur-[2px]'
const panelClass =
  'fixed z-50 flex flex-col bg-paper shadow-float animate-appear border border-line ' +
  'max-sm:inset-x-0 max-sm:bottom-0 max-sm:max-h-[92dvh] max-sm:rounded-t-2xl ' +
  'sm:top-1/2 sm:left-1/2 sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-2xl'

/** Below them, a phone may have its own bar. */
const ABOVE_BAR = {
  panel: 'max-sm:pb-[env(safe-area-inset-bottom)]',
  padded: 'p-5 max-sm:pb-[max(1.25rem,env(safe-area-inset-bottom))]',
}

const HEIGHT = 'sm:max-h-[min(86dvh,52rem)]'
const WIDTHS = {
  narrow: `${HEIGHT} sm:w-[26rem]`,
  normal: `${HEIGHT} sm:w-[34rem]`,
  /** Keeps its place and height while its content changes. */
  palette: 'h-[92dvh] sm:h-[min(86dvh,40rem)] sm:w-[38rem]',
  wide: `${HEIGHT} sm:w-[min(64rem,94vw)]`,
  full: 'sm:max-h-[94dvh] sm:w-[96vw]',
}

/**
 * A modal dialog. It takes the focus, closes with Escape and returns the focus. `footer` contains its buttons. A press
 * beside it closes it, too, unless something was typed, which a slip of the finger must not discard.
 */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  width = 'normal',
  footer,
  children,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description?: string
  width?: keyof typeof WIDTHS
  footer?: ReactNode
  children: ReactNode
}) {
  const { t } = useTranslation()
  const returnFocus = useReturnedFocus(open)
  useCloseWithBack(open, () => onOpenChange(false))
  const isEdited = useRef(false)
  useEffect(() => {
    if (!open) isEdited.current = false
  }, [open])
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className={overlayClass} />
        <RadixDialog.Content
          className={classNames(panelClass, WIDTHS[width], ABOVE_BAR.panel, 'outline-none')}
          onOpenAutoFocus={focusFirstField}
          onCloseAutoFocus={returnFocus}
          onInput={({ target }) => {
            const isSearch = target instanceof HTMLInputElement && target.type === 'search'
            if (!isSearch) isEdited.current = true
          }}
          onPointerDownOutside={(event) => {
            if (isEdited.current || isInNotice(event.target)) event.preventDefault()
          }}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <RadixDialog.Title className="text-[1.0625rem] font-semibold tracking-tight">
                {title}
              </RadixDialog.Title>
              {description !== undefined && (
                <RadixDialog.Description className="mt-0.5 text-sm text-muted">
                  {description}
                </RadixDialog.Description>
              )}
            </div>
            <RadixDialog.Close asChild>
              {/* No tip: in a dialog without fields this button gets the focus, and Escape would close the tip instead of the dialog. */}
              <button
                type="button"
                aria-label={t('common.close')}
                className="grid size-7 shrink-0 place-items-center rounded-lg text-muted hover:bg-hover hover:text-ink pointer-coarse:-mt-2.5 pointer-coarse:-me-2.5"
              >
                <X size={15} aria-hidden />
              </button>
            </RadixDialog.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-5">{children}</div>
          {footer !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </footer>
          )}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  )
}

const FIELD = ':is(input:not([type=file], [type=checkbox], [type=radio]), textarea, select):enabled'

/** Focuses the first field; on touch screens the panel, because the on-screen keyboard would cover the form. */
function focusFirstField(event: Event): void {
  const panel = event.currentTarget
  if (!(panel instanceof HTMLElement)) return
  const field = panel.querySelector<HTMLElement>(FIELD)
  if (field === null) return
  event.preventDefault()
  const isTouched = matchMedia('(pointer: coarse)').matches
  ;(isTouched ? panel : field).focus()
}

/** Asks for confirmation before something that cannot be undone (`danger`), or not easily. */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  text,
  confirm,
  tone = 'danger',
  onConfirm,
  save,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  text: string
  confirm: string
  tone?: 'danger' | 'primary'
  onConfirm: () => void
  /** Offers to save instead, if that is possible. */
  save?: () => void
}) {
  const { t } = useTranslation()
  const returnFocus = useReturnedFocus(open)
  useCloseWithBack(open, () => onOpenChange(false))
  return (
    <AlertDialog.Root open={open} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={overlayClass} />
        <AlertDialog.Content
          className={classNames(panelClass, WIDTHS.narrow, ABOVE_BAR.padded)}
          onCloseAutoFocus={returnFocus}
        >
          <AlertDialog.Title className="text-[1.0625rem] font-semibold tracking-tight">
            {title}
          </AlertDialog.Title>
          <AlertDialog.Description className="mt-2 text-sm text-soft">
            {text}
          </AlertDialog.Description>
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button tone="quiet">{t('common.cancel')}</Button>
            </AlertDialog.Cancel>
            <AlertDialog.Action asChild>
              <Button tone={tone} onClick={onConfirm}>
                {confirm}
              </Button>
            </AlertDialog.Action>
            {save !== undefined && (
              <AlertDialog.Action asChild>
                <Button tone="primary" onClick={save}>
                  {t('common.save')}
                </Button>
              </AlertDialog.Action>
            )}
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
