// A dialog with a form that adds something, and optionally shows a result afterwards.
import { type ReactNode, useId } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../controls/button.tsx'
import { bringIntoView } from '../states/bring-into-view.ts'
import { FieldFaults, useRemainingError } from '../states/field-faults.tsx'
import { Dialog } from './dialog.tsx'

/** What no field of the form shows itself. Inside `FieldFaults`. */
export function RemainingError({ error }: { error: Error | null }) {
  const text = useRemainingError(error)
  if (text === undefined) return null
  return (
    <p
      ref={bringIntoView}
      role="alert"
      className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad"
    >
      {text}
    </p>
  )
}

/**
 * The submit button says `submit`, or else the title, which then has to say what to do. `isReady` means that all required fields
 * are filled in. `result`, such as a link to copy, replaces the fields (`children`) once it is set.
 */
export function FormDialog({
  title,
  submit = title,
  isReady,
  isPending,
  error,
  result,
  onSubmit,
  onClose,
  children,
}: {
  title: string
  submit?: string
  isReady: boolean
  /** Whether the request is pending. */
  isPending: boolean
  /** The error of the last request; null if there was none. */
  error: Error | null
  result?: ReactNode
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const id = useId()
  const isDone = result !== undefined
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      footer={
        isDone ? (
          <Button onClick={onClose}>{t('common.close')}</Button>
        ) : (
          <>
            <Button tone="quiet" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button tone="primary" type="submit" form={id} disabled={!isReady || isPending}>
              {submit}
            </Button>
          </>
        )
      }
    >
      {isDone ? (
        result
      ) : (
        <form
          id={id}
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            if (isReady && !isPending) onSubmit()
          }}
        >
          <FieldFaults error={error}>
            {children}
            <RemainingError error={error} />
          </FieldFaults>
        </form>
      )}
    </Dialog>
  )
}
