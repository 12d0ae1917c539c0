// A recording of a message: a player with its name and size, a button that saves it, and why the model has not heard it.
import { AudioLines, Download, Play } from 'lucide-react'
import { useState } from 'react'
import type { StoredAttachment } from '../../../../../server/protocol/conversations/message.ts'
import { saveFile } from '../../../lib/browser/save-file.ts'
import { fileSize } from '../../../lib/format.ts'
import { send } from '../../../lib/http/api-client.ts'
import { useRefusalText } from '../../../lib/http/refusal-text.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { reportError } from '../../../ui/states/error-text.ts'
import { useLoadedBlob } from './loaded-blob.ts'

/** A longer recording is loaded only when somebody wants to hear it. */
const MAX_LOADED_BYTES = 2 * 1024 * 1024

/** The player of a stored recording. */
export function Recording({ file }: { file: StoredAttachment }) {
  const { t, i18n } = useTranslation()
  const refusalText = useRefusalText()
  const { name, size, url, error, reason, params } = file
  const [isWanted, setWanted] = useState(size <= MAX_LOADED_BYTES)
  const [isAskedFor, setAskedFor] = useState(false)
  const source = useLoadedBlob(isWanted ? url : null, (problem) => {
    setWanted(false)
    // Nobody has asked for those that load by themselves; the button says enough.
    if (isAskedFor) reportError(problem)
  })
  const listen = (): void => {
    setAskedFor(true)
    setWanted(true)
  }
  const save = async (): Promise<void> => {
    try {
      saveFile(await (await send(url)).blob(), name)
    } catch (problem) {
      reportError(problem)
    }
  }
  return (
    <li className="w-80 max-w-full min-w-0 rounded-[14px] border border-line bg-paper p-2">
      <div className="flex items-center gap-2">
        <span className="grid size-7 shrink-0 place-items-center rounded-md bg-sunken text-muted">
          <AudioLines size={14} aria-hidden />
        </span>
        <span className="min-w-0 flex-1 truncate text-note" dir="auto">
          {name}
        </span>
        <span className="shrink-0 text-[0.75rem] text-muted tabular-nums">
          {fileSize(size, i18n.language)}
        </span>
        <ActionButton
          icon={Download}
          label={t('recording.save', { name })}
          onClick={() => void save()}
        />
      </div>
      {isWanted ? (
        <Player source={source} name={name} isStarted={isAskedFor} />
      ) : (
        <Button
          size="small"
          icon={Play}
          className="my-1"
          aria-label={t('recording.play', { name })}
          onClick={listen}
        >
          {t('recording.listen')}
        </Button>
      )}
      {error !== undefined && (
        <p className="mt-1.5 px-1 text-[0.75rem] text-pretty break-words text-muted">
          {t('composer.problem.unreadable', {
            name,
            reason: refusalText({ reason, params, message: error }),
          })}
        </p>
      )}
    </li>
  )
}

/** The browser's own player, which is operated with the keyboard as well. */
export function Player({
  source,
  name,
  isStarted = false,
}: {
  /** Null while it is loading. */
  source: string | null
  name: string
  /** Whether it plays at once. */
  isStarted?: boolean
}) {
  const { t } = useTranslation()
  return (
    <audio
      controls
      autoPlay={isStarted}
      aria-label={t('recording.play', { name })}
      className="mt-1.5 h-10 w-full rounded-full"
      {...(source === null ? {} : { src: source })}
    />
  )
}
