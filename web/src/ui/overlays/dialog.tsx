// Dialogs for the page; the code that draws them loads with the first one that opens.
import { type ComponentProps, useState } from 'react'
import { late } from '../states/late.tsx'
import { PartBoundary } from '../states/part-boundary.tsx'
import type * as parts from './dialog-parts.tsx'

const LateDialog = late(() => import('./dialog-parts.tsx').then((module) => module.Dialog))
const LateConfirmDialog = late(() =>
  import('./dialog-parts.tsx').then((module) => module.ConfirmDialog),
)

/** True from the first opening on, because a dialog that closes still returns the focus. */
function useWanted(open: boolean): boolean {
  const [wanted, setWanted] = useState(open)
  if (open && !wanted) setWanted(true)
  return wanted
}

/** A broken dialog is tried again when it is next opened. */
const guard = ({
  open,
  onOpenChange,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
}) => ({
  subject: open,
  onClose: () => onOpenChange(false),
})

/** A dialog: centred on a wide screen, a bottom sheet on a phone. */
export function Dialog(props: ComponentProps<typeof parts.Dialog>) {
  return (
    useWanted(props.open) && (
      <PartBoundary fallback={null} isOver {...guard(props)}>
        <LateDialog {...props} />
      </PartBoundary>
    )
  )
}

/** Asks for confirmation before something that cannot be undone. */
export function ConfirmDialog(props: ComponentProps<typeof parts.ConfirmDialog>) {
  return (
    useWanted(props.open) && (
      <PartBoundary fallback={null} isOver {...guard(props)}>
        <LateConfirmDialog {...props} />
      </PartBoundary>
    )
  )
}
