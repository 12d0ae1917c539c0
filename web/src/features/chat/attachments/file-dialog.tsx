// A dialog that shows an attached file at a page: PDF in the browser's viewer, images, recordings, and the text of all other files.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import type {
  FileInfo,
  FileText as FileTextData,
} from '../../../../../server/protocol/conversations/file.ts'
import { isRecording } from '../../../../../server/protocol/conversations/recording.ts'
import { saveFile } from '../../../lib/browser/save-file.ts'
import { hasEncodingChoice } from '../../../lib/encodings.ts'
import { request, send } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { EncodingChoice } from '../../../ui/controls/encoding-choice.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { errorText } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { FileText } from './file-text.tsx'
import { Player } from './recording.tsx'

type Kind = 'pdf' | 'image' | 'audio' | 'text' | 'other'

const kindOf = (mime: string): Kind =>
  mime === 'application/pdf'
    ? 'pdf'
    : /^image\/(?:png|jpeg|gif|webp)$/.test(mime)
      ? 'image'
      : isRecording(mime)
        ? 'audio'
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

/** The text of a document or of a text file as the model reads it: the server knows the encoding. */
const useText = (id: string, enabled: boolean) =>
  useQuery({
    queryKey: ['file-text', id],
    queryFn: ({ signal }) => request<FileTextData>(`/api/files/${id}/text`, { signal }),
    enabled,
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: { quiet: true },
  })

/** Reads the text in another encoding. */
function useReadAs(id: string, onRead: ((file: FileInfo) => void) | undefined) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (encoding: string) =>
      request<FileInfo>(`/api/files/${id}`, { method: 'PATCH', body: { encoding } }),
    async onSuccess(file) {
      onRead?.(file)
      await client.invalidateQueries({ queryKey: ['file-text', id] })
    },
  })
}

/** Loads the file `id` when it opens. `marks` are the words to highlight in the text view. */
export function FileDialog({
  id,
  page,
  marks,
  onRead,
  onClose,
}: {
  id: string
  /** The page, slide or sheet to show; null shows the beginning or the first marked word. */
  page: number | null
  marks: readonly string[]
  /** Receives the file when its text was read in another encoding. */
  onRead?: (file: FileInfo) => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const file = useFile(id)
  const { data } = file
  const [isText, setText] = useState(false)
  const isPdf = data?.kind === 'pdf' && navigator.pdfViewerEnabled
  const isDrawn = data?.kind === 'image' || data?.kind === 'audio' || (isPdf && !isText)
  const text = useText(id, data !== undefined && !isDrawn)
  const readAs = useReadAs(id, onRead)
  const name = data?.name ?? t('search.type.file')
  const shown = isDrawn ? undefined : text.data
  // An earlier version did not store in which encoding it has read a text.
  const encoding = shown?.encoding ?? (shown !== undefined && data?.kind === 'text' ? '' : null)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      width="wide"
      title={name}
      {...(page === null ? {} : { description: t('search.page', { page }) })}
      footer={
        data !== undefined && (
          <>
            {encoding !== null && hasEncodingChoice(encoding, shown?.text ?? '') && (
              <EncodingChoice
                value={encoding}
                disabled={readAs.isPending}
                onChange={(other) => readAs.mutate(other)}
              />
            )}
            {isPdf && (
              <Button onClick={() => setText(!isText)}>
                {t(isText ? 'search.asFile' : 'search.asText')}
              </Button>
            )}
            <Button icon={Download} onClick={() => saveFile(data.bytes, name)}>
              {t('files.download')}
            </Button>
          </>
        )
      }
    >
      {file.isLoadingError ? (
        <Failed message={errorText(file.error)} onRetry={() => void file.refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : isDrawn ? (
        <Drawn
          kind={data.kind === 'pdf' || data.kind === 'audio' ? data.kind : 'image'}
          bytes={data.bytes}
          page={page}
          name={name}
        />
      ) : text.isLoadingError ? (
        <Failed message={errorText(text.error)} onRetry={() => void text.refetch()} />
      ) : text.data === undefined ? (
        <Loading />
      ) : text.data.text === null ? (
        <p className="p-6 text-center text-sm text-muted">{t('files.binaryText')}</p>
      ) : (
        <FileText text={text.data.text} page={page} marks={marks} />
      )}
    </Dialog>
  )
}

/** Fixes the type of the blob, so that a file of another kind never runs as a web page. */
function Drawn({
  kind,
  bytes,
  page,
  name,
}: {
  kind: 'pdf' | 'image' | 'audio'
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
  if (kind === 'audio') return <Player source={address} name={name} />
  if (kind === 'image')
    return <img src={address} alt={name} className="mx-auto max-h-[70dvh] rounded-lg" />
  return (
    <iframe
      src={`${address}#navpanes=0&page=${page ?? 1}`}
      title={name}
      className="h-[70dvh] w-full rounded-lg border border-line bg-white"
    />
  )
}
