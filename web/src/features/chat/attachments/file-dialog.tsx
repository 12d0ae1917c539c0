// An attached file in a dialog, at a page: PDF in the browser's own viewer, images, texts with the searched words marked.

import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { send } from '../../../lib/api-client.ts'
import { saveFile } from '../../../lib/save-file.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { errorText } from '../../../ui/error-text.ts'
import { Failed, Loading } from '../../../ui/feedback.tsx'

/** Characters of a text that are drawn; the rest is in the download. */
const MAX_TEXT_CHARACTERS = 400_000

type Kind = 'pdf' | 'image' | 'text' | 'other'

const kindOf = (mime: string): Kind =>
  mime === 'application/pdf'
    ? 'pdf'
    : /^image\/(?:png|jpeg|gif|webp)$/.test(mime)
      ? 'image'
      : mime.startsWith('text/') || mime === 'application/json'
        ? 'text'
        : 'other'

const useFile = (id: string) =>
  useQuery({
    queryKey: ['file', id],
    queryFn: async ({ signal }) => {
      const response = await send(`/api/files/${id}`, { signal })
      const encoded = /filename\*=UTF-8''([^;]+)/.exec(
        response.headers.get('content-disposition') ?? '',
      )?.[1]
      const mime = (response.headers.get('content-type') ?? '').split(';')[0] ?? ''
      const name = encoded === undefined ? null : decodeURIComponent(encoded)
      return { kind: kindOf(mime), name, bytes: await response.blob() }
    },
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: { quiet: true },
  })

export function FileDialog({
  id,
  page,
  marks,
  onClose,
}: {
  id: string
  /** Of a PDF; null: from its beginning. */
  page: number | null
  marks: readonly string[]
  onClose: () => void
}) {
  const { t } = useTranslation()
  const file = useFile(id)
  const { data } = file
  const name = data?.name ?? t('search.type.file')
  return (
    <Dialog
      open
      onOpenChange={onClose}
      width="wide"
      title={name}
      {...(page === null ? {} : { description: t('search.page', { page }) })}
      footer={
        data !== undefined && (
          <Button icon={Download} onClick={() => saveFile(data.bytes, name)}>
            {t('files.download')}
          </Button>
        )
      }
    >
      {file.isLoadingError ? (
        <Failed message={errorText(file.error)} onRetry={() => void file.refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : data.kind === 'text' ? (
        <Text bytes={data.bytes} marks={marks} />
      ) : data.kind === 'other' || (data.kind === 'pdf' && !navigator.pdfViewerEnabled) ? (
        <p className="p-6 text-center text-sm text-muted">{t('files.binaryText')}</p>
      ) : (
        <Drawn kind={data.kind} bytes={data.bytes} page={page} name={name} />
      )}
    </Dialog>
  )
}

/** The type is fixed, so that a file of another kind is never run as a page. */
function Drawn({
  kind,
  bytes,
  page,
  name,
}: {
  kind: 'pdf' | 'image'
  bytes: Blob
  page: number | null
  name: string
}) {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    const blob = kind === 'pdf' ? new Blob([bytes], { type: 'application/pdf' }) : bytes
    const created = URL.createObjectURL(blob)
    setAddress(created)
    return () => URL.revokeObjectURL(created)
  }, [bytes, kind])
  if (address === null) return <Loading />
  if (kind === 'image')
    return <img src={address} alt={name} className="mx-auto max-h-[70dvh] rounded-lg" />
  return (
    <iframe
      src={page === null ? address : `${address}#page=${page}`}
      title={name}
      className="h-[70dvh] w-full rounded-lg border border-line bg-white"
    />
  )
}

/** The places of the words in the text, without overlaps, in order. */
function placesOf(text: string, words: readonly string[]): [number, number][] {
  const lower = text.toLowerCase()
  const found: [number, number][] = []
  for (const word of words.map((one) => one.toLowerCase()).filter((one) => one !== ''))
    for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + word.length))
      found.push([at, at + word.length])
  let end = 0
  return found
    .toSorted(([a], [b]) => a - b)
    .filter(([from, to]) => {
      if (from < end) return false
      end = to
      return true
    })
}

function Text({ bytes, marks }: { bytes: Blob; marks: readonly string[] }) {
  const { data: text } = useQuery({
    queryKey: ['file-text', bytes.size, bytes],
    queryFn: async () => (await bytes.text()).slice(0, MAX_TEXT_CHARACTERS),
    gcTime: 0,
  })
  const first = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the marks exist once the text has arrived
  useEffect(() => {
    first.current?.scrollIntoView({ block: 'center' })
  }, [text])
  if (text === undefined) return <Loading />
  const places = placesOf(text, marks)
  return (
    <pre
      dir="auto"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className="max-h-[62dvh] overflow-y-auto rounded-lg bg-sunken p-4 text-[13px] leading-relaxed whitespace-pre-wrap wrap-anywhere"
    >
      {places.map(([from, to], at) => (
        <span key={from}>
          {text.slice(places[at - 1]?.[1] ?? 0, from)}
          <mark ref={at === 0 ? first : undefined} className="rounded-xs bg-warn-soft text-ink">
            {text.slice(from, to)}
          </mark>
        </span>
      ))}
      {text.slice(places.at(-1)?.[1] ?? 0)}
    </pre>
  )
}
