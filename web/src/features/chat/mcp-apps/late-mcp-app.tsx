// The app of an MCP server below the call whose result it shows, in a frame of another origin.
import { useQueryClient } from '@tanstack/react-query'
import { AppWindow, Globe, X } from 'lucide-react'
import { use, useCallback, useEffect, useRef, useState } from 'react'
import {
  type McpApp as Document,
  domainsOf,
  type McpAppReference,
} from '../../../../../server/protocol/mcp-app.ts'
import type { ToolCallStep, ToolResultStep } from '../../../../../server/protocol/runs/step.ts'
import { visibleText } from '../../../../../server/protocol/runs/visible-text.ts'
import { insertIntoComposer } from '../../../lib/browser/composer-insert.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useNewest } from '../../../lib/newest.ts'
import { useTheme } from '../../../lib/preferences/theme.ts'
import { fieldsOf, parseJson } from '../../../lib/read-json.ts'
import { Button, IconButton } from '../../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../../ui/overlays/dialog.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { errorText, reportError } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { RunContext } from '../answer-run.ts'
import { ConversationContext } from '../conversation-context.ts'
import { useLiveRuns } from '../runs/live-runs.ts'
import { useAllowDomains, useMcpApp } from './api.ts'
import { type AppConnection, type AppHost, AppRefusal, connectApp } from './app-host.ts'
import { type AppPlace, callTool, createContextStore } from './calls.ts'

/** After this time without a word from the frame, the origin of apps counts as not reachable. */
const REACHED_WITHIN_MS = 10_000
const HEIGHT = { first: 240, least: 40, most: 900 }

type Props = { app: McpAppReference; call: ToolCallStep; result: ToolResultStep }

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
  // The app stays when the stored answer takes the place of the one that was written: its call and result are the same.
  const latest = useNewest({ theme, language: i18n.language, onClose, t, call, result, runId })

  useEffect(() => {
    if (url === null) return
    const gone = new AbortController()
    const { runId: first } = latest.current
    const opened = connectApp(() => frame.current?.contentWindow, new URL(url).origin, {
      html: document.html,
      input: fieldsOf(parseJson(latest.current.call.arguments)),
      result: resultOf(latest.current.result),
      context: () => ({
        theme: latest.current.theme,
        locale: latest.current.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        platform: 'web',
        displayMode: 'inline',
        availableDisplayModes: ['inline'],
        containerDimensions: {
          width: frame.current?.clientWidth ?? 0,
          maxHeight: HEIGHT.most,
        },
      }),
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
        notify(latest.current.t(isInserted ? 'apps.asked' : 'apps.nowhere'))
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
    <div className="overflow-hidden rounded-lg border border-line bg-paper">
      <div className="flex min-h-8 items-center gap-1 border-b border-line px-2">
        <p className="min-w-0 flex-1 truncate text-note text-muted">{t('apps.mcpFrame', app)}</p>
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
        style={{ height }}
        className="w-full border-0"
      />
      {told !== '' && <Told text={told} />}
      <Requests ids={waiting} />
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

/** As the server sent it; of a long one, what the model read. */
function resultOf({ artifact, content }: ToolResultStep): Readonly<Record<string, unknown>> {
  const sent = fieldsOf(artifact?.app_result)
  if (Array.isArray(sent.content)) return sent
  const { success, data, error } = fieldsOf(parseJson(content))
  const value = success === true ? data : error
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return { content: [{ type: 'text', text }], isError: success !== true }
}
