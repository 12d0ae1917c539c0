// Opens the file that the address names (`?file=<id>&page=<number>`), such as from a hit of the search.
import { lazy, Suspense } from 'react'
import { useSearchParams } from 'wouter'
import { loadPageTexts } from '../../../lib/i18n/i18n.ts'

const FileDialog = lazy(async () => {
  const [module] = await Promise.all([import('./file-dialog.tsx'), loadPageTexts()])
  return { default: module.FileDialog }
})

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
    <Suspense fallback={null}>
      <FileDialog
        id={id}
        page={Number.isInteger(page) && page > 0 ? page : null}
        marks={params.getAll('mark')}
        onClose={close}
      />
    </Suspense>
  )
}
