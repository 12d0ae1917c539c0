// Opens the file that the address names (`?file=<id>&page=<number>`), such as from a hit of the search.
import { useSearchParams } from 'wouter'
import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'

const FileDialog = lazyView(() => import('./file-dialog.tsx').then((module) => module.FileDialog))

/** Closing the dialog takes the file out of the address again. */
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
