// A file that runs as an app: its frame of another origin, what it reports, and what it may do.
import { Globe, Maximize2, Minimize2, RotateCw, ShieldCheck } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { RunningApp } from '../../../../server/protocol/projects/app.ts'
import { isComposerCovered, uncoverComposer } from '../../lib/browser/composer-cover.ts'
import { insertIntoComposer } from '../../lib/browser/composer-insert.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { useTheme } from '../../lib/preferences/theme.ts'
import { classNames } from '../../ui/class-names.ts'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { useFullWindow } from '../../ui/overlays/use-full-window.ts'
import { errorText, reportError } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { useApp, useAppNetwork } from './api/apps.ts'
import { useFilesEdition } from './api/files.ts'
import { type AppMessage, createMessageReader, newChannel } from './app-messages.ts'

/** After this time without a message, the origin of apps counts as not reachable. */
const REACHED_WITHIN_MS = 10_000
/** The same after the browser has loaded something into the frame: an app reports before anything else of it has loaded. */
const REPORTED_WITHIN_MS = 1_000

type Fault = Extract<AppMessage, { type: 'error' }>
type Place = { projectId: string; path: string }

/** `text` is the stored file, for the picture of it where the origin of apps cannot be reached. */
export function AppFrame({ projectId, path, text }: Place & { text: string }) {
  const { t } = useTranslation()
  const [loads, setLoads] = useState(0)
  // It may load any file of its folder.
  const edition = `${loads} ${useFilesEdition(projectId)}`
  const app = useApp(projectId, path, edition)
  if (app.isPending) return <Loading />
  if (app.isError)
    return <Failed message={errorText(app.error)} onRetry={() => void app.refetch()} />
  return (
    <section aria-label={t('apps.frame', { name: path })} className="flex h-full flex-col">
      <OpenApp
        key={edition}
        app={app.data}
        path={path}
        text={text}
        onReload={() => setLoads(loads + 1)}
      />
    </section>
  )
}

function OpenApp({
  app,
  path,
  text,
  onReload,
}: {
  app: RunningApp
  path: string
  text: string
  onReload: () => void
}) {
  const { t } = useTranslation()
  const [isFull, setFull] = useState(false)
  const { frame, address, fault, isLost, isReady, onLoad } = useFrame(app)
  const isPicture = address === null || isLost
  const place = useFullWindow(isFull, () => setFull(false))
  return (
    <div
      ref={place}
      {...(isFull && { role: 'dialog', 'aria-modal': true, 'aria-label': path })}
      className={classNames(
        'flex flex-col',
        // Not moved in the document: the frame would load again.
        isFull
          ? 'fixed inset-0 z-40 bg-paper pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)]'
          : 'min-h-0 flex-1',
      )}
    >
      <div className="flex min-h-10 shrink-0 items-center gap-1 border-b border-line px-2">
        <p className="min-w-0 flex-1 truncate px-1 text-note text-muted">
          {app.tainted ? t('apps.tainted') : isFull ? path : ''}
        </p>
        <IconButton
          icon={ShieldCheck}
          size="small"
          label={t('apps.rules')}
          hint={t('apps.rulesText')}
          onClick={() => notify(t('apps.rulesText'))}
        />
        {!isPicture && <NetworkButton app={app} onChanged={onReload} />}
        <IconButton icon={RotateCw} size="small" label={t('apps.reload')} onClick={onReload} />
        <IconButton
          icon={isFull ? Minimize2 : Maximize2}
          size="small"
          label={t(isFull ? 'apps.leaveFullScreen' : 'apps.fullScreen')}
          pressed={isFull}
          onClick={() => setFull(!isFull)}
        />
      </div>
      {fault !== null && <FaultRow path={path} fault={fault} />}
      {isPicture ? (
        <Picture kind={app.kind} path={path} text={text} />
      ) : (
        <div className="relative flex min-h-0 flex-1">
          <iframe
            ref={frame}
            title={t('apps.frame', { name: path })}
            src={address}
            sandbox="allow-scripts allow-forms allow-pointer-lock"
            allow=""
            referrerPolicy="no-referrer"
            className="min-h-0 w-full flex-1 border-0 bg-paper"
            onLoad={onLoad}
          />
          {!isReady && (
            // Over the frame: what a browser shows for an address that it cannot reach is not about this page.
            <div className="absolute inset-0 bg-paper">
              <Loading />
            </div>
          )}
        </div>
      )}
    </div>
  )
}

/** The frame with its channel: hears what it reports, and tells it the colours of the page. */
function useFrame({ url }: RunningApp) {
  const { t } = useTranslation()
  const frame = useRef<HTMLIFrameElement>(null)
  const [channel] = useState(newChannel)
  const [isReady, setReady] = useState(false)
  const [isLoaded, setLoaded] = useState(false)
  const [isLost, setLost] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const dark = useTheme((theme) => theme.dark)
  useEffect(() => {
    const read = createMessageReader(channel)
    const noteAsked = (isInserted: boolean): void => {
      // The app stays until its user wants to see the text: what it says decides nothing.
      const show = { label: t('apps.showText'), onClick: uncoverComposer }
      const action = isInserted && isComposerCovered() ? show : undefined
      notify(t(isInserted ? 'apps.asked' : 'apps.nowhere'), 'plain', action)
    }
    const hear = ({ source, data }: MessageEvent<unknown>): void => {
      if (source === null || source !== frame.current?.contentWindow) return
      const message = read(data, performance.now())
      if (message?.type === 'ready') {
        setReady(true)
        setFault(null)
      } else if (message?.type === 'error') setFault(message)
      else if (message?.type === 'ask') noteAsked(insertIntoComposer(message.text))
    }
    addEventListener('message', hear)
    return () => removeEventListener('message', hear)
  }, [channel, t])
  useEffect(() => {
    if (url === null || isReady) return
    const within = isLoaded ? REPORTED_WITHIN_MS : REACHED_WITHIN_MS
    const timer = setTimeout(() => setLost(true), within)
    return () => clearTimeout(timer)
  }, [url, isReady, isLoaded])
  useEffect(() => {
    if (!isReady) return
    // The document has no origin to name. What it is told is no secret.
    const message = { type: 'theme', theme: dark ? 'dark' : 'light', channel }
    frame.current?.contentWindow?.postMessage(message, '*')
  }, [isReady, dark, channel])
  const onLoad = (): void => setLoaded(true)
  return {
    frame,
    fault,
    isLost,
    isReady,
    onLoad,
    address: url === null ? null : `${url}#c=${channel}`,
  }
}

function FaultRow({ path, fault }: { path: string; fault: Fault }) {
  const { t } = useTranslation()
  const text =
    fault.line === null
      ? fault.message
      : t('apps.faultLine', { message: fault.message, line: fault.line })
  return (
    <div
      role="status"
      className="flex max-h-[40%] shrink-0 flex-wrap items-center gap-2 overflow-y-auto border-b border-warn/40 bg-warn-soft px-3 py-1.5 text-note text-warn"
    >
      <span className="min-w-[min(100%,14rem)] flex-1 [overflow-wrap:anywhere]">{text}</span>
      <Button
        size="small"
        onClick={() => {
          uncoverComposer()
          if (!insertIntoComposer(t('apps.fixText', { path, fault: text })))
            notify(t('apps.nowhere'))
        }}
      >
        {t('apps.fix')}
      </Button>
    </div>
  )
}

function NetworkButton({ app, onChanged }: { app: RunningApp; onChanged: () => void }) {
  const { t } = useTranslation()
  const [asking, setAsking] = useState(false)
  const change = useAppNetwork()
  const permit = (network: boolean): void =>
    change.mutate({ id: app.id, network }, { onSuccess: onChanged, onError: reportError })
  return (
    <>
      <IconButton
        icon={Globe}
        size="small"
        label={t(app.network ? 'apps.networkOff' : 'apps.network')}
        pressed={app.network}
        disabled={change.isPending}
        onClick={() => (app.network ? permit(false) : setAsking(true))}
      />
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('apps.networkTitle')}
        text={t(app.tainted ? 'apps.networkTainted' : 'apps.networkText')}
        confirm={t('apps.networkAllow')}
        onConfirm={() => permit(true)}
      />
    </>
  )
}

/** The file without its scripts and styles: what a document of the page's own origin may show. */
function Picture({ kind, path, text }: { kind: RunningApp['kind']; path: string; text: string }) {
  const { t } = useTranslation()
  const isShown = kind === 'html' || kind === 'svg'
  return (
    <>
      <p role="status" className="border-b border-line px-3 py-2 text-note text-muted">
        {t(isShown ? 'apps.picture' : 'apps.unreachable')}
      </p>
      {isShown && (
        <iframe
          title={t('apps.frame', { name: path })}
          srcDoc={text}
          sandbox=""
          className="min-h-0 w-full flex-1 border-0 bg-white"
        />
      )}
    </>
  )
}
