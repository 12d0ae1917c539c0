// Hook for attaching files to a message: chosen, dropped or pasted, with checks before and after the upload.

import { type ClipboardEvent, useEffect, useState } from 'react'
import type { PublicModel } from '../../../../../server/protocol/models/catalog.ts'
import { receiveDroppedFiles } from '../../../lib/browser/dropped-files.ts'
import { refusalText } from '../../../lib/http/refusal-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useNewest } from '../../../lib/newest.ts'
import { notify } from '../../../ui/overlays/toasts.ts'
import { reportError } from '../../../ui/states/error-text.ts'
import { MAX_FILE_BYTES, MAX_FILES, useChosenFiles } from '../attachments/attachments.ts'

/** An average across languages. `WINDOW_SHARE` is the share of the context window that the server allows for files. */
const CHARACTERS_PER_TOKEN = 3
const WINDOW_SHARE = 0.5
/** A longer pasted text becomes a file. */
const MAX_PASTED_CHARACTERS = 8_000

const PICTURE_NAME = /\.(?:png|jpe?g|gif|webp|avif|hei[cf])$/i

/** Whether the HTML of a clipboard is a picture alone, as a browser copies one. */
function isPictureAlone(html: string): boolean {
  const { body } = new DOMParser().parseFromString(html, 'text/html')
  return body.querySelector('img') !== null && body.textContent.trim() === ''
}

/** The text says only what the files are: their names, as file managers add them, or the address of a picture. */
function isTextOfFiles(text: string, html: string, files: readonly File[]): boolean {
  if (files.length === 1 && /^https?:\/\/\S+$/.test(text))
    return html === '' || isPictureAlone(html)
  const names = new Set(files.map(({ name }) => name))
  return text
    .split(/[\r\n]+/)
    .every((line) => names.has(line) || names.has(line.split(/[\\/]/).at(-1) ?? ''))
}

/** The files to attach from a clipboard. Excel, Word and OneNote add a picture of their text, which is not wanted. */
function pastedFiles(clipboard: DataTransfer): readonly File[] {
  const files = [...clipboard.files]
  const text = clipboard.getData('text/plain').trim()
  return text === '' || isTextOfFiles(text, clipboard.getData('text/html'), files) ? files : []
}

/**
 * The files are part of the draft `draftKey`. While `model` is undefined (loading), any file can be attached; the server
 * checks again. `insert` receives a long pasted text that should not become a file.
 */
export function useAttaching(
  draftKey: string,
  model: PublicModel | undefined,
  insert: (text: string) => void,
) {
  const { t } = useTranslation()
  const [dragging, setDragging] = useState(false)
  const chosen = useChosenFiles({
    draftKey,
    onUploaded({ name, characters = 0, error, reason, params }) {
      const window = model?.context_window ?? Number.POSITIVE_INFINITY
      if (error !== undefined)
        notify(
          t(`composer.problem.${characters > 0 ? 'partlyRead' : 'unreadable'}`, {
            name,
            reason: refusalText({ reason, params, message: error }),
          }),
          characters > 0 ? 'plain' : 'error',
        )
      else if (characters / CHARACTERS_PER_TOKEN > window * WINDOW_SHARE)
        notify(t('composer.problem.tooLong', { name }))
    },
    onFailure: reportError,
    onTooMany: () => notify(t('composer.problem.tooMany', { max: MAX_FILES }), 'error'),
  })
  const vision = model?.vision ?? true
  const attach = (added: Iterable<File>): readonly number[] => {
    const fits = [...added].filter((file) => {
      const problem =
        file.size > MAX_FILE_BYTES
          ? 'tooLarge'
          : file.type.startsWith('image/') && file.type !== 'image/svg+xml' && !vision
            ? 'noVision'
            : null
      if (problem !== null) notify(t(`composer.problem.${problem}`, { name: file.name }), 'error')
      return problem === null
    })
    return chosen.add(fits)
  }
  const attachStored: typeof chosen.addStored = (name, source, store) => {
    if (vision || !PICTURE_NAME.test(name)) chosen.addStored(name, source, store)
    else notify(t('composer.problem.noVision', { name }), 'error')
  }

  const onPaste = (event: ClipboardEvent): void => {
    const files = pastedFiles(event.clipboardData)
    if (files.length > 0) {
      event.preventDefault()
      attach(files)
      return
    }
    const text = event.clipboardData.getData('text/plain')
    if (text.length <= MAX_PASTED_CHARACTERS) return
    event.preventDefault()
    const file = new File([text], `${t('composer.pastedFile')}.txt`, { type: 'text/plain' })
    const keys = attach([file])
    notify(t('composer.pasted'), 'plain', {
      label: t('composer.pastedAsText'),
      onClick() {
        for (const key of keys) chosen.remove(key)
        insert(text)
      },
    })
  }

  const dropped = useNewest(attach)
  useEffect(
    () =>
      receiveDroppedFiles({
        onOver: setDragging,
        onFiles: (added) => void dropped.current(added),
      }),
    [],
  )
  return { chosen, attach, attachStored, onPaste, dragging }
}
