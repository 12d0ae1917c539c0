// The notice for administrators that the server runs another version than the one from which this page was loaded.
import { useQuery } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { request } from '../lib/http/api-client.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { Button } from '../ui/controls/button.tsx'

/** The version of the page; the build puts it in. */
declare const PAGE_VERSION: string

const LOOK_EVERY_MS = 10 * 60_000

/** Looks now and then, and whenever the connection to the server was lost: an upgrade ends it. */
export function OtherVersion() {
  const { t } = useTranslation()
  const { data: server } = useQuery({
    queryKey: ['server-version'],
    queryFn: async ({ signal }) =>
      (await request<{ version: string }>('/healthz', { signal })).version,
    // What a server sends is as old as the server: no request while the page loads.
    initialData: PAGE_VERSION,
    staleTime: LOOK_EVERY_MS,
    refetchInterval: LOOK_EVERY_MS,
    meta: { quiet: true },
  })
  return (
    <div role="status" className="shrink-0">
      {server !== PAGE_VERSION && (
        <div className="flex flex-wrap items-center justify-center gap-x-3 gap-y-1 border-b border-line bg-sunken px-3 py-1.5 text-note text-soft">
          <span>{t('errors.otherVersion', { server, page: PAGE_VERSION })}</span>
          <Button size="small" icon={RotateCw} onClick={() => location.reload()}>
            {t('errors.reload')}
          </Button>
        </div>
      )}
    </div>
  )
}
