// The app of an MCP server below the call whose result it shows, in a frame of another origin.
import { useQueryClient } from '@tanstack/react-query'
import { AppWindow, Globe, Maximize2, Minimize2, X } from 'lucide-react'
import { type RefObject, use, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import {
  type McpApp as Document,
  domainsOf,
  type McpAppReference,
} from '../../../../../server/protocol/mcp-app.ts'
import type { ToolCallStep, ToolResultStep } from '../../../../../server/protocol/runs/step.ts'
import { visibleText } from '../../../../../server/protocol/runs/visible-text.ts'
import { isComposerCovered, uncoverComposer } from '../../../lib/browser/composer-cover.ts'
import { insertIntoComposer } from '../../../lib/browser/composer-insert.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useNewest } from '../../../lib/newest.ts'
import { useTheme } from '../../../lib/preferences/theme.ts'
import { fieldsOf, parseJson, textIn } from '../../../lib/read-json.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Button, IconButton } from '../../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { useFullWindow } from '../../../ui/overlays/use-full-window.ts'
import { errorText, reportError } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { RunContext } from '../answer-run.ts'
import { ConversationContext } from '../conversation-context.ts'
import { useLiveRuns } from '../runs/live-runs.ts'
import { useAllowDomains, useMcpApp } from './api.ts'
import {
  type AppConnection,
  type AppHost,
  AppRefusal,
  type CallEnd,
  connectApp,
  type DisplayMode,
} from './app-host.ts'
import { type AppPlace, callTool, createContextStore } from './calls.ts'

/** After this time without a word from the frame, the origin of apps counts as not reachable. */
const REACHED_WITHIN_MS = 10_000
const MAX_REASON = 500
/** For this time, a click counts as one that the app may act upon. */
const STAYS_LEFT_MS = 5_000
const HEIGHT = { first: 240, least: 40, most: 900 }

/** `isOver`: the call does not run any more. */
type Props = {
  app: McpAppReference
  call: ToolCallStep
  result: ToolResultStep | null
  isOver: boolean
}

/** Read when it comes into view: a long conversation may have many. */
export function McpApp(props: Props) {
  const { t } = useTranslation()
  const { app } = props
  const place = useRef<HTMLElement>(null)
  const [isSeen, setSeen] = useState(false)
  const [isOpen, setOpen] = useState(true)
  const document = useMcpApp(app, isSeen && isOpen)
  useEffect(() => {
    if (place.current === null) return
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
    )
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return (
    <section ref={place} aria-label={t('apps.mcpFrame', app)} className="min-h-8">
      {!isOpen ? (
        <Button size="small" icon={AppWindow} onClick={() => setOpen(true)}>
          {t('apps.mcpOpen')}
        </Button>
      ) : document.isPending ? (
        <Loading />
      ) : document.isError ? (
        <Failed message={errorText(document.error)} onRetry={() => void document.refetch()} />
      ) : (
        <Frame
          key={`${document.data.url} ${document.data.sha256}`}
          {...props}
          document={document.data}
          onClose={() => setOpen(false)}
        />
      )}
    </section>
  )
}

function Frame({
  app,
  call,
  result,
  isOver,
  document,
  onClose,
}: Props & { document: Document; onClose: () => void }) {
  const { t, i18n } = useTranslation()
  const { url } = document
  const frame = useRef<HTMLIFrameElement>(null)
  const connection = useRef<AppConnection>(null)
  const [isReady, setReady] = useState(false)
  const [isLost, setLost] = useState(url === null)
  const { height, onHeight, waiting, told, actsIn } = useActs()
  const { runId, Requests } = use(RunContext)
  const [link, setLink] = useState<{ url: URL; settle: (isOpened: boolean) => void } | null>(null)
  const dark = useTheme((theme) => theme.dark)
  const theme = dark ? 'dark' : 'light'
  const mode = useDisplayMode(frame, connection)
  const end = useMemo(() => endOf(result, isOver), [result, isOver])
  // The app stays when the stored answer takes the place of the one that was written: its call and result are the same.
  const latest = useNewest({ theme, language: i18n.language, onClose, t, call, end, runId, mode })

  useEffect(() => {
    if (url === null) return
    const gone = new AbortController()
    const { runId: first } = latest.current
    const opened = connectApp(() => frame.current?.contentWindow, new URL(url).origin, {
      html: document.html,
      input: fieldsOf(parseJson(latest.current.call.arguments)),
      end: latest.current.end,
      context: () => ({
        theme: latest.current.theme,
        locale: latest.current.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        platform: 'web',
        availableDisplayModes: ['inline', 'fullscreen'],
        ...latest.current.mode.context(),
      }),
      onModes: (modes) => latest.current.mode.onModes(modes),
      onMode: (wanted) => latest.current.mode.onMode(wanted),
      onReady: () => setReady(true),
      onHeight: (pixels) =>
        onHeight(Math.round(Math.min(Math.max(pixels, HEIGHT.least), HEIGHT.most))),
      ...(first === null
        ? {}
        : actsIn(() => {
            const { runId: newest, call: shown } = latest.current
            return { runId: newest ?? first, callRef: shown.id_ref }
          }, gone.signal)),
      onMessage(text) {
        const isInserted = insertIntoComposer(text)
        // The app stays until its user wants to see the text: what it says decides nothing.
        const show = { label: latest.current.t('apps.showText'), onClick: uncoverComposer }
        notify(
          latest.current.t(isInserted ? 'apps.asked' : 'apps.nowhere'),
          'plain',
          isInserted && isComposerCovered() ? show : undefined,
        )
        return isInserted
      },
      onLink: (wanted) =>
        new Promise((settle) =>
          setLink((asked) => {
            // One question at a time.
            if (asked !== null) settle(false)
            return asked ?? { url: wanted, settle }
          }),
        ),
      onEnd: () => void opened.end().then(() => latest.current.onClose()),
    })
    connection.current = opened
    return () => {
      void opened.end()
      opened.close()
      gone.abort()
    }
  }, [url, document.html, actsIn, onHeight])
  useEffect(() => connection.current?.changeContext({ theme }), [theme])
  useEffect(() => {
    if (end !== null) connection.current?.endCall(end)
  }, [end])
  useEffect(() => {
    if (isReady) return
    const timer = setTimeout(() => setLost(true), REACHED_WITHIN_MS)
    return () => clearTimeout(timer)
  }, [isReady])

  const answerLink = (isOpened: boolean): void => {
    if (isOpened && link !== null) window.open(link.url.href, '_blank', 'noopener,noreferrer')
    link?.settle(isOpened)
    setLink(null)
  }
  if (url === null || isLost)
    return <p className="text-note text-muted">{t('apps.mcpUnreachable', app)}</p>
  return (
    <div
      ref={mode.place}
      {...(mode.isFull && {
        role: 'dialog',
        'aria-modal': true,
        'aria-label': t('apps.mcpFrame', app),
        'data-full-window': '',
      })}
      className={classNames(
        'overflow-hidden bg-paper',
        // Not moved in the document: the frame would load again.
        mode.isFull
          ? 'fixed inset-0 z-40 flex flex-col pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)]'
          : 'rounded-lg border border-line',
      )}
    >
      <div
        className={classNames(
          'flex shrink-0 items-center gap-1 border-b border-line px-2',
          mode.isFull ? 'min-h-12' : 'min-h-8',
        )}
      >
        <p className="min-w-0 flex-1 truncate text-note text-muted">{t('apps.mcpFrame', app)}</p>
        {mode.isOffered && (
          <IconButton
            icon={mode.isFull ? Minimize2 : Maximize2}
            size="small"
            label={t(mode.isFull ? 'apps.mcpLeaveFull' : 'apps.fullScreen')}
            pressed={mode.isFull}
            onClick={mode.toggle}
          />
        )}
        <IconButton
          icon={X}
          size="small"
          label={t('apps.mcpClose')}
          onClick={() =>
            void (connection.current?.end() ?? Promise.resolve()).then(() => onClose())
          }
        />
      </div>
      <Domains app={app} document={document} />
      <iframe
        ref={frame}
        title={t('apps.mcpFrame', app)}
        src={url}
        sandbox="allow-scripts allow-same-origin allow-forms"
        allow=""
        referrerPolicy="no-referrer"
        {...(mode.isFull
          ? { className: 'min-h-0 w-full flex-1 border-0' }
          : { style: { height }, className: 'w-full border-0' })}
      />
      <div className={mode.isFull ? 'max-h-1/2 shrink-0 overflow-y-auto' : 'contents'}>
        {told !== '' && <Told text={told} />}
        <Requests ids={waiting} />
      </div>
      <ConfirmDialog
        open={link !== null}
        onOpenChange={(isOpen) => !isOpen && answerLink(false)}
        title={t('apps.mcpLinkTitle')}
        text={link?.url.href ?? ''}
        confirm={t('apps.mcpLinkOpen')}
        onConfirm={() => answerLink(true)}
      />
    </div>
  )
}

/** Whether the app fills the window. It may ask for that after a click into it, and not again as soon as its user has left. */
function useDisplayMode(
  frame: RefObject<HTMLIFrameElement | null>,
  connection: RefObject<AppConnection | null>,
) {
  const [isFull, setFull] = useState(false)
  const [isOffered, setOffered] = useState(false)
  const leftAt = useRef(Number.NEGATIVE_INFINITY)
  const leave = (): void => {
    leftAt.current = performance.now()
    setFull(false)
  }
  const place = useFullWindow(isFull, leave)
  const context = () => {
    const { clientWidth: width = 0, clientHeight: height = 0 } = frame.current ?? {}
    return {
      displayMode: isFull ? ('fullscreen' as const) : ('inline' as const),
      containerDimensions: isFull ? { width, height } : { width, maxHeight: HEIGHT.most },
    }
  }
  const newest = useNewest(context)
  const wasFull = useRef(isFull)
  useEffect(() => {
    if (wasFull.current === isFull) return
    wasFull.current = isFull
    connection.current?.changeContext(newest.current())
  }, [isFull, connection])
  return {
    place,
    isFull,
    isOffered,
    context,
    toggle: () => (isFull ? leave() : setFull(true)),
    onModes: (modes: readonly string[] | null) =>
      setOffered(modes === null || modes.includes('fullscreen')),
    onMode(wanted: string): DisplayMode {
      const isPressed =
        navigator.userActivation?.isActive !== false && document.activeElement === frame.current
      const mayFill = isOffered && isPressed && performance.now() - leftAt.current > STAYS_LEFT_MS
      if (wanted === 'inline') setFull(false)
      else if (wanted === 'fullscreen' && mayFill) setFull(true)
      else return isFull ? 'fullscreen' : 'inline'
      return wanted
    },
  }
}

/** What the app asks of the server, and what of it is to be seen. */
function useActs() {
  const client = useQueryClient()
  const { conversationId } = use(ConversationContext)
  const [wanted, setWanted] = useState(HEIGHT.first)
  const [shown, setShown] = useState(HEIGHT.first)
  const [waiting, setWaiting] = useState<readonly string[]>([])
  const [told, setTold] = useState('')
  // Below the app is a card with buttons: it must not move under the pointer when the app likes.
  const isHeld = waiting.length > 0
  useEffect(() => {
    if (!isHeld) setShown(wanted)
  }, [isHeld, wanted])
  // The next message has taken it along.
  useEffect(() => {
    if (told === '') return
    const before = useLiveRuns.getState().byId
    return useLiveRuns.subscribe(({ byId }) => {
      const begun = Object.values(byId).some(
        (run) => run.conversationId === conversationId && !Object.hasOwn(before, run.runId),
      )
      if (begun) setTold('')
    })
  }, [told, conversationId])
  const { t } = useTranslation()
  const texts = useNewest({ t })
  const actsIn = useCallback(
    (
      placeOf: () => AppPlace,
      signal: AbortSignal,
    ): Required<Pick<AppHost, 'onCall' | 'onContext'>> => {
      const store = createContextStore(placeOf)
      return {
        async onCall(name, input) {
          let asked: string | null = null
          const onWaiting = (id: string): void => {
            asked = id
            setWaiting((before) => [...before, id])
          }
          try {
            const result = await callTool(
              client,
              placeOf(),
              { name, arguments: input },
              { signal, onWaiting },
            )
            const text = texts.current.t('apps.mcpWithdrawn')
            return result ?? { content: [{ type: 'text', text }], isError: true }
          } catch (error) {
            throw new AppRefusal(errorText(error))
          } finally {
            if (asked !== null) setWaiting((before) => before.filter((id) => id !== asked))
          }
        },
        async onContext(text) {
          try {
            await store(text)
          } catch (error) {
            throw new AppRefusal(errorText(error))
          }
          if (!signal.aborted) setTold(text)
        },
      }
    },
    [client],
  )
  return { height: shown, onHeight: setWanted, waiting, told, actsIn }
}

/** What the app tells the model with the next message, for the person to read. */
function Told({ text }: { text: string }) {
  const { t } = useTranslation()
  return (
    <details className="border-t border-line px-3 py-1.5 text-note">
      <summary className="touch-target cursor-pointer text-soft">{t('apps.mcpTold')}</summary>
      <p className="mt-1 max-h-48 overflow-auto whitespace-pre-wrap wrap-anywhere">
        {visibleText(text)}
      </p>
    </details>
  )
}

/** What the app would like to reach, until it is allowed. */
function Domains({ app, document }: { app: McpAppReference; document: Document }) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const allow = useAllowDomains(app)
  const domains = domainsOf(document.csp)
  if (domains.length === 0 || document.domains_allowed) return null
  const names = domains.join(', ')
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1.5 text-note">
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {t('apps.mcpWants', { domains: names })}
      </span>
      <Button size="small" icon={Globe} disabled={allow.isPending} onClick={() => setAsking(true)}>
        {t('apps.networkAllow')}
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={t('apps.mcpAllowTitle')}
        text={t('apps.mcpAllowText', { domains: names, server: app.server })}
        confirm={t('apps.networkAllow')}
        onConfirm={() => allow.mutate(domains, { onError: reportError })}
      />
    </div>
  )
}

/** How the call ended; null while it runs. A result without the app is none of the server's, but says why there is none. */
function endOf(result: ToolResultStep | null, isOver: boolean): CallEnd | null {
  if (result?.artifact?.app !== undefined) return { result: resultOf(result) }
  if (result === null) return isOver ? { cancelled: { reason: 'The run has ended.' } } : null
  const reason =
    textIn(fieldsOf(parseJson(result.content)).error) ?? 'The call was not carried out.'
  return { cancelled: { reason: reason.slice(0, MAX_REASON) } }
}

/** As the server sent it; of a long one, what the model read. */
function resultOf({ artifact, content }: ToolResultStep): Readonly<Record<string, unknown>> {
  const sent = fieldsOf(artifact?.app_result)
  if (Array.isArray(sent.content)) return sent
  const { success, data, error } = fieldsOf(parseJson(content))
  const value = success === true ? data : error
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return { content: [{ type: 'text', text }], isError: success !== true }
}
