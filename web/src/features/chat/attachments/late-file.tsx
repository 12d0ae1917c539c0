// Opens the file in the URL (`?file=<id>&page=<number>`), for example from a search hit.
import { useSearchParams } from 'wouter'
import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'

const FileDialog = lazyView(() => import('./file-dialog.tsx').then((module) => module.FileDialog))

/** A lazy dialog for the file in the URL. Closing it removes the file from the URL. */
export function LateFile() {
  const [params, setParams] = useSearchParams()
  const id = params.get('file')
  if (id === null) return null
  const page = Number(params.get('page') ?? Number.NaN)
  const close = (): void =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before)
        after.delete('file')
        after.delete('page')
        return after
      },
      { replace: true },
    )
  return (
    <PartBoundary fallback={null} isOver subject={id} onClose={close}>
      <FileDialog
        id={id}
        page={Number.isInteger(page) && page > 0 ? page : null}
        marks={params.getAll('mark')}
        onClose={close}
      />
    </PartBoundary>
  )
}
