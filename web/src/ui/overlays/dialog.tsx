// Lazy wrappers of the dialogs. Their code loads after the first screen, or with the first dialog that opens.
import { type ComponentProps, useState } from 'react'
import { late } from '../states/late.tsx'
import { PartBoundary } from '../states/part-boundary.tsx'
import type * as parts from './dialog-parts.tsx'

const LateDialog = late(() => import('./dialog-parts.tsx').then((module) => module.Dialog))
const LateConfirmDialog = late(() =>
  import('./dialog-parts.tsx').then((module) => module.ConfirmDialog),
)

/** True from the first opening on: the dialog stays mounted, because it returns the focus when it closes. */
function useWasOpened(open: boolean): boolean {
  const [wasOpened, setWasOpened] = useState(open)
  if (open && !wasOpened) setWasOpened(true)
  return wasOpened
}

/** The boundary's properties: a broken dialog is rendered again the next time it opens. */
const boundaryProps = ({
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
    useWasOpened(props.open) && (
      <PartBoundary fallback={null} isOver {...boundaryProps(props)}>
        <LateDialog {...props} />
      </PartBoundary>
    )
  )
}

/** Asks for confirmation before something that cannot be undone, or not easily. */
export function ConfirmDialog(props: ComponentProps<typeof parts.ConfirmDialog>) {
  return (
    useWasOpened(props.open) && (
      <PartBoundary fallback={null} isOver {...boundaryProps(props)}>
        <LateConfirmDialog {...props} />
      </PartBoundary>
    )
  )
}
